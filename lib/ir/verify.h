// The graph verifier, which reports all defects, not only the first one.
#ifndef GRAPNEL_LIB_IR_VERIFY_H_
#define GRAPNEL_LIB_IR_VERIFY_H_

#include <memory>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/public.h"

namespace grapnel {

// Checks one body: inputs exist and have the number and dtypes that the op takes; required
// attributes exist and have the right kind; there is no cycle except through NextIteration; names
// are unique. An op that TensorFlow 2.21 does not have is a warning: it may be a custom op.
// Problems are sorted by node. Linear in nodes, edges and attributes; does not read the values of
// constants.
GRAPNEL_PUBLIC std::vector<Problem> VerifyGraph(const Graph& graph,
                                                const Function* function = nullptr);

// Checks one graph repeatedly while it changes. Caches facts about unchanged nodes, eight bytes a
// node.
class GRAPNEL_PUBLIC ChangeVerifier {
 public:
  ChangeVerifier();
  ~ChangeVerifier();
  // Checks only nodes that changed after version `since`, their readers, and cycles. The graph must
  // have had no problem at version `since`, which must not be earlier than the version at the last
  // call (0: never checked). Still linear in nodes and edges, but ten times as fast.
  std::vector<Problem> Run(const Graph& graph, const Function* function, uint64_t since);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

// Checks the calls of nodes that changed after version `since`: functions that are missing, or that
// take or return other dtypes. Linear in those nodes.
GRAPNEL_PUBLIC std::vector<Problem> VerifyCallsOf(const Graph& graph, const Function* function,
                                                  uint64_t since);

// Checks the main graph, every function, and calls: missing functions, and infinite recursion, in
// which a function calls itself without an If, Case or While in between.
GRAPNEL_PUBLIC std::vector<Problem> VerifyModule(const Module& module);

// Returns the problems found while reading and those of VerifyModule.
GRAPNEL_PUBLIC std::vector<Problem> AllProblems(const Module& module);

GRAPNEL_PUBLIC bool HasErrors(llvm::ArrayRef<Problem> problems);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_VERIFY_H_
