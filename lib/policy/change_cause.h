// Finds the change that makes a node compute other values. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_CHANGE_CAUSE_H_
#define GRAPNEL_LIB_POLICY_CHANGE_CAUSE_H_

#include <string>

#include "lib/policy/checked_model.h"

namespace grapnel {

// Returns a clause about the change nearest to the node among those that its value depends on: "op
// of 'act' was Relu and is Tanh", "'scale' (Mul) is new", "the values of 'dense/kernel' differ".
// `node` is a name of the second graph, behind names of calls or functions. Without such a node,
// looks at everything that the graph's results depend on. "" if there is no change.
std::string CauseOf(const ServedGraphs& graphs, llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_CHANGE_CAUSE_H_
