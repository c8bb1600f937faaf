// A graph's summary as text for users.
#ifndef GRAPNEL_LIB_IO_SUMMARY_TEXT_H_
#define GRAPNEL_LIB_IO_SUMMARY_TEXT_H_

#include "lib/io/open.h"
#include "lib/ir/short_names.h"
#include "lib/ir/summary.h"
#include "lib/library/function_library.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// True if the graph comes from a SavedModel or a MetaGraph.
bool IsOfModel(const GraphInFile& graph);
// Prints the signatures, each after an empty line.
void WriteSignaturesText(const GraphInFile& graph, llvm::raw_ostream& os);
// Prints sizes, ops, devices, constants and functions of a graph; before them, if IsOfModel, an
// empty line, the functions of the objects and the variables. Also prints the graph's inputs,
// outputs and ops with effects if it has no signatures, or if `all`. Truncates long lists unless
// `all`.
void WriteSummaryText(const GraphInFile& graph, const Summary& summary,
                      const FunctionLibrary& library, bool all, llvm::raw_ostream& os,
                      const ShortNames& names = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SUMMARY_TEXT_H_
