// Where a node is, said alike of two graphs of which one has functions where the other has their
// nodes: calls that were inlined, branches and loops that were lowered to Switch, Merge and Enter.
#ifndef GRAPNEL_LIB_CHECK_NODE_PLACE_H_
#define GRAPNEL_LIB_CHECK_NODE_PLACE_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct NodePlace {
  // The names of the nodes that call, then its own: "call/node". After a While's, "loop/?/node" is
  // of the condition, "loop/node" of the body.
  std::string path;
  // Of If and Case on the way which branch, as far as that is known: "then;branch2;".
  // "branch0|branch2;": one function is both.
  std::string branches;
};

// What of `caller` the function is: "cond" or "body" of a While, "then", "else" or "branch2" of If
// and Case, several of them with '|' between; empty: `caller` is another op.
std::string PartOfCaller(const Node& caller, llvm::StringRef function);

// Adds a caller to the way to a node, outermost first; `part`: what of it is called.
void AppendCaller(const NodePlace& caller, llvm::StringRef part, NodePlace* place);

// Of a node of this name. TensorFlow names a node of the body of `while` "while/body/_7/add" when
// it puts it into the graph around: that is "while/add". Nodes that it adds itself end in a number
// or begin with "Func/", and keep their names.
NodePlace PlaceOfName(llvm::StringRef name);
bool IsAddedByLowering(llvm::StringRef name);

// False: one is in a branch and the other in another, though their paths may be the same.
bool MayBeSameBranches(llvm::StringRef a, llvm::StringRef b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_NODE_PLACE_H_
