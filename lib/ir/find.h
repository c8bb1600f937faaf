// Looking up by name what a graph holds. An error says what is near, in one form:
// "node 'relu' not found; did you mean 'Relu', 'relu_1'?" (lib/support/suggest.h). Finding takes
// constant time; an error walks all names (100 ms in a graph of a million nodes).
#ifndef GRAPNEL_LIB_IR_FIND_H_
#define GRAPNEL_LIB_IR_FIND_H_

#include <optional>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/suggest.h"

namespace grapnel {

// The node of "x", of its outputs "x:0", "x:1" (whether it has them or not) and of "^x".
Expected<Node> FindNode(const Graph& graph, llvm::StringRef text);
// The same in the main graph, and "function/x" in a function's body.
Expected<Node> FindNode(const Module& module, llvm::StringRef text);

// The output that a text names (lib/ir/tensor_name.h). Errors: there is no such node; it has no
// such output: "node 'split' has 2 outputs; 'split:2' is none of them". Of an op that is not known
// any output is taken to be there, and ":0" of one without outputs is the node itself.
Expected<Port> FindTensor(const Graph& graph, llvm::StringRef tensor);
// The same for who goes on without it, and asks for no error.
std::optional<Port> FindTensorIfThere(const Graph& graph, llvm::StringRef tensor);

// Gives every name of a node that FindNode(module, ...) finds: "x", "function/x".
void VisitNodeNames(const Module& module, NameSink take);

Expected<const Function*> FindFunction(const Module& module, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FIND_H_
