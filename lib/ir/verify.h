// The graph verifier, which reports the defects of the whole graph, not only the first one.
#ifndef GRAPNEL_LIB_IR_VERIFY_H_
#define GRAPNEL_LIB_IR_VERIFY_H_

#include <memory>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/public.h"

namespace grapnel {

// Checks the main graph or a function's body: inputs exist and have the number and dtypes that the
// op takes; required attributes exist, and values have the right type and are allowed; there is no
// cycle except through NextIteration; the inputs of a node are in one TF1 loop. An op that
// TensorFlow 2.21 does not have is only a warning: it may be a custom op. Duplicate names and
// missing inputs in a file are not reported here, as import reports them. Problems of nodes come
// first, in order of id. Linear in nodes, edges and attributes; does not read the elements of
// constants.
GRAPNEL_PUBLIC std::vector<Problem> VerifyGraph(const Graph& graph,
                                                const Function* function = nullptr);

// Checks one graph again and again while it changes. Keeps facts about unchanged nodes from call to
// call, eight bytes a node, or sixteen if the ids are not a topological order.
class GRAPNEL_PUBLIC ChangeVerifier {
 public:
  ChangeVerifier();
  ~ChangeVerifier();
  // Checks only the nodes that changed after version `since` and their readers, and looks for
  // cycles and wrong TF1 loops; with `since` 0, checks the whole graph. At version `since`, which
  // is not earlier than the version at the last call, the graph must have had no problem. Takes
  // time in proportion to the changes in most cases; linear in nodes and edges if the graph has TF1
  // loops, calls functions or has custom ops, or if it needs a new topological order.
  std::vector<Problem> Run(const Graph& graph, const Function* function, uint64_t since);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

// Checks the functions that nodes refer to, of nodes that changed after version `since`: whether
// the function exists, and for a call, If, Case or While takes and returns the dtypes that the node
// states. Linear in those nodes.
GRAPNEL_PUBLIC std::vector<Problem> VerifyCallsOf(const Graph& graph, const Function* function,
                                                  uint64_t since);

// Checks the main graph and every function, and their references to functions: each function must
// exist and have the dtypes that a call, If, Case or While states, and a function may call itself
// only with an If, Case or While in between, since the recursion would not end otherwise.
GRAPNEL_PUBLIC std::vector<Problem> VerifyModule(const Module& module);

// Returns the problems found while reading and those of VerifyModule, with lines and columns for a
// graph read from text.
GRAPNEL_PUBLIC std::vector<Problem> AllProblems(const Module& module);

GRAPNEL_PUBLIC bool HasErrors(llvm::ArrayRef<Problem> problems);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_VERIFY_H_
