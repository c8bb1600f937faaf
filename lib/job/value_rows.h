// The values of a model's variables and constants, in numbers.
#ifndef GRAPNEL_LIB_JOB_VALUE_ROWS_H_
#define GRAPNEL_LIB_JOB_VALUE_ROWS_H_

#include <string>
#include <vector>

#include "lib/io/value_row.h"
#include "lib/job/opened_graph.h"
#include "lib/support/thread_pool.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Returns a row for each own variable of the graph (VariableValues), in the order of their nodes,
// and then for each constant, in the order of bodies and nodes. A row says why if its value cannot
// be read. Reads each value once, checks its checksum, and releases its pages; takes some 2 ns for
// an element, on the threads of `pool`. The result does not depend on their number.
std::vector<ValueRow> ValueRowsOf(const OpenedGraph& opened, ThreadPool& pool);

// Returns "the values of 14 variables are unknown: the model comes without a checkpoint"; empty if
// all values are known.
std::string UnknownValuesText(llvm::ArrayRef<ValueRow> rows);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_VALUE_ROWS_H_
