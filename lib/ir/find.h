// Looks up nodes, tensors and functions by name. If there is no such name, the error suggests
// similar ones: "node 'relu' not found; did you mean 'Relu', 'relu_1'?" (lib/support/suggest.h). A
// lookup takes constant time; an error walks all names (100 ms in a graph of a million nodes).
#ifndef GRAPNEL_LIB_IR_FIND_H_
#define GRAPNEL_LIB_IR_FIND_H_

#include <optional>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/suggest.h"

namespace grapnel {

// Returns the node x for "x", for "^x", and for "x:0", "x:1" and so on, even if x does not have
// that output.
Expected<Node> FindNode(const Graph& graph, llvm::StringRef text);
// Like FindNode above, for the main graph; also finds a node in a function's body, which is written
// "function/x", or as an input there: "function/x:out:0".
Expected<Node> FindNode(const Module& module, llvm::StringRef text);

// Returns the output that a tensor name states (lib/ir/tensor_name.h). Errors: the name is a
// control edge ("^x"), there is no such node, or the node has no such output: "node 'split' has 2
// outputs; 'split:2' is not one of them". If the op is unknown, any output is accepted; for a node
// without outputs, ":0" is accepted and means the node itself.
Expected<Port> FindTensor(const Graph& graph, llvm::StringRef tensor);
// Like FindTensor, for callers that need no error message; nullopt if the output does not exist.
std::optional<Port> FindTensorIfThere(const Graph& graph, llvm::StringRef tensor);

// Passes the name of every node to `take`, in the form that FindNode(module, ...) accepts: "x",
// "function/x".
void VisitNodeNames(const Module& module, NameSink take);

Expected<const Function*> FindFunction(const Module& module, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FIND_H_
