// What is in a graph, as a person reads it.
#ifndef GRAPNEL_LIB_IO_SUMMARY_TEXT_H_
#define GRAPNEL_LIB_IO_SUMMARY_TEXT_H_

#include "lib/io/open.h"
#include "lib/ir/summary.h"
#include "lib/library/function_library.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Sizes, inputs, outputs, signatures, ops, devices, constants, functions; long lists are cut short
// and say so, unless `all`. With `signature`, `summary` is of the network that it runs, and of what
// the file says beside the graph only that signature is told.
void WriteSummaryText(const GraphInFile& graph, const Summary& summary,
                      const FunctionLibrary& library, bool all, llvm::StringRef signature,
                      llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SUMMARY_TEXT_H_
