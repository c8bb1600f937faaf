// The place of a node, in a form common to two graphs if one has functions where the other has
// their nodes: inlined calls, and branches and loops lowered to Switch, Merge and Enter.
#ifndef GRAPNEL_LIB_CHECK_NODE_PLACE_H_
#define GRAPNEL_LIB_CHECK_NODE_PLACE_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct NodePlace {
  // The names of the calling nodes, then the node's own: "call/node". For a While, "loop/?/node" is
  // in the condition, "loop/node" in the body.
  std::string path;
  // The branches of If and Case on the path, as far as they are known: "then;branch2;". In
  // "branch0|branch2;" one function is both.
  std::string branches;
};

// Returns the role of the function in `caller`: "cond" or "body" of a While, "then", "else" or
// "branch2" of If and Case, joined by '|' if it has several; empty if `caller` is another op.
std::string PartOfCaller(const Node& caller, llvm::StringRef function);

// Appends a caller to the path of a node, outermost first; `part`: the called part of it.
void AppendCaller(const NodePlace& caller, llvm::StringRef part, NodePlace* place);

// Returns the place of a node from its name. TensorFlow names a node of the body of `while`
// "while/body/_7/add" when it inlines it: that is "while/add". Nodes that TensorFlow adds end in a
// number or begin with "Func/", and keep their names.
NodePlace PlaceOfName(llvm::StringRef name);
bool IsAddedByLowering(llvm::StringRef name);

// False if one place is in a branch and the other in another branch, though their paths may be
// equal.
bool MayBeSameBranches(llvm::StringRef a, llvm::StringRef b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_NODE_PLACE_H_
