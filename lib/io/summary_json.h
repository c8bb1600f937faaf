// A graph's summary as JSON.
#ifndef GRAPNEL_LIB_IO_SUMMARY_JSON_H_
#define GRAPNEL_LIB_IO_SUMMARY_JSON_H_

#include "lib/io/open.h"
#include "lib/ir/summary.h"
#include "lib/library/function_library.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes the members "title", "nodes", "data_edges", ..., "functions", "python_functions" into the
// JSON object that `json` has begun. Does not truncate lists.
void WriteSummaryJson(const GraphInFile& graph, const Summary& summary,
                      const FunctionLibrary& library, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SUMMARY_JSON_H_
