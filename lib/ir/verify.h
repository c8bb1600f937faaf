// The verifier: everything that is wrong with a graph, not only the first thing.
#ifndef GRAPNEL_LIB_IR_VERIFY_H_
#define GRAPNEL_LIB_IR_VERIFY_H_

#include <vector>

#include "lib/ir/module.h"
#include "lib/support/public.h"

namespace grapnel {

// Checks one body: inputs that exist, as many and of the dtypes that the op takes; attributes that
// the op demands, of the right kind; no cycle but through NextIteration; names that differ. An op
// that is not TensorFlow 2.21's is a warning: it may be a custom op. Sorted by node. Linear in
// nodes, edges and attributes; constants are not read.
GRAPNEL_PUBLIC std::vector<Problem> VerifyGraph(const Graph& graph,
                                                const Function* function = nullptr);

// The same of a graph that had no problem at its version `since`: only nodes that changed after it
// and their readers are looked at, and cycles. Linear in nodes and edges still, a tenth as long.
GRAPNEL_PUBLIC std::vector<Problem> VerifyChanges(const Graph& graph, const Function* function,
                                                  uint64_t since);

// The same for the main graph and every function, and for calls: functions that are missing, and
// calls that never end because no If, Case or While stands between a function and itself.
GRAPNEL_PUBLIC std::vector<Problem> VerifyModule(const Module& module);

// What reading found and what VerifyModule finds.
GRAPNEL_PUBLIC std::vector<Problem> AllProblems(const Module& module);

GRAPNEL_PUBLIC bool HasErrors(llvm::ArrayRef<Problem> problems);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_VERIFY_H_
