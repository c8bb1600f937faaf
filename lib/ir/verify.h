// The verifier: everything that is wrong with a graph, not only the first thing.
#ifndef GRAPNEL_LIB_IR_VERIFY_H_
#define GRAPNEL_LIB_IR_VERIFY_H_

#include <memory>
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

// The same of one graph that is looked at again and again while it changes. Keeps what it found out
// of nodes that do not: eight bytes a node.
class GRAPNEL_PUBLIC ChangeVerifier {
 public:
  ChangeVerifier();
  ~ChangeVerifier();
  // The graph had no problem at its version `since`, which is no earlier than that of the last
  // call (0: it was never looked at): only nodes that changed after it and their readers are looked
  // at, and cycles. Linear in nodes and edges still, a tenth as long.
  std::vector<Problem> Run(const Graph& graph, const Function* function, uint64_t since);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

// The calls that nodes changed after version `since` make: functions that are missing, or take or
// give something else. Linear in those nodes.
GRAPNEL_PUBLIC std::vector<Problem> VerifyCallsOf(const Graph& graph, const Function* function,
                                                  uint64_t since);

// The same for the main graph and every function, and for calls: functions that are missing, and
// calls that never end because no If, Case or While stands between a function and itself.
GRAPNEL_PUBLIC std::vector<Problem> VerifyModule(const Module& module);

// What reading found and what VerifyModule finds.
GRAPNEL_PUBLIC std::vector<Problem> AllProblems(const Module& module);

GRAPNEL_PUBLIC bool HasErrors(llvm::ArrayRef<Problem> problems);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_VERIFY_H_
