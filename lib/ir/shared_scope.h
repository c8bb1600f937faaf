// The scope that all nodes share.
#ifndef GRAPNEL_LIB_IR_SHARED_SCOPE_H_
#define GRAPNEL_LIB_IR_SHARED_SCOPE_H_

#include <string>

#include "lib/ir/graph.h"

namespace grapnel {

// Returns the longest scope, with a slash at its end, that contains all names that are in a scope
// at all: "sequential_1/" for "x", "sequential_1/dense/MatMul" and "sequential_1/flatten/Reshape".
// Empty if there is none, or if only one name is in a scope.
std::string SharedScope(llvm::ArrayRef<std::string> names);
// Returns that of the graph's nodes. Variables do not count: Keras names them by layers, without
// the model.
std::string SharedScope(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SHARED_SCOPE_H_
