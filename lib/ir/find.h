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

// Returns the node x for "x", for its outputs "x:0", "x:1" (which need not exist) and for "^x".
Expected<Node> FindNode(const Graph& graph, llvm::StringRef text);
// Finds a node of the main graph in the same way; "function/x" finds a node in a function's body.
Expected<Node> FindNode(const Module& module, llvm::StringRef text);

// Returns the output that a text names (lib/ir/tensor_name.h). Errors: the node does not exist; the
// node has no such output: "node 'split' has 2 outputs; 'split:2' is not one of them". A node with
// an unknown op is assumed to have any output, and ":0" of a node without outputs is the node
// itself.
Expected<Port> FindTensor(const Graph& graph, llvm::StringRef tensor);
// Like FindTensor, for callers that need no error message; nullopt if the output does not exist.
std::optional<Port> FindTensorIfThere(const Graph& graph, llvm::StringRef tensor);

// Passes to `take` every node name that FindNode(module, ...) accepts: "x", "function/x".
void VisitNodeNames(const Module& module, NameSink take);

Expected<const Function*> FindFunction(const Module& module, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FIND_H_
