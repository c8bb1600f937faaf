// The place of a node among calls, loops and branches, in a form that is the same whether a graph
// has them as functions or has their nodes inlined (calls) and lowered to Switch, Merge and Enter
// (branches and loops).
#ifndef GRAPNEL_LIB_CHECK_NODE_PLACE_H_
#define GRAPNEL_LIB_CHECK_NODE_PLACE_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct NodePlace {
  // The names of the calling nodes, then the node's own: "call/node". For a While, "loop/?/node" is
  // a node of the condition, "loop/node" one of the body.
  std::string path;
  // The branches of If and Case that contain the node, as far as they are known: "then;branch2;".
  // "branch0|branch2;" means that one function is both branches.
  std::string branches;
};

// Returns the role of the function in `caller`: "cond" or "body" of a While, "then", "else" or
// "branch2" of If and Case, joined by '|' if it has several; empty if it has none.
std::string PartOfCaller(const Node& caller, llvm::StringRef function);

// Appends a caller to the path of a node; call it for the outermost caller first. `part` is the
// role of the called function (PartOfCaller).
void AppendCaller(const NodePlace& caller, llvm::StringRef part, NodePlace* place);

// Returns the place of a node according to its name. When TensorFlow inlines the body of a loop
// `while`, it names the body's node `add` "while/body/_7/add"; the path is "while/add". Nodes that
// TensorFlow adds when inlining have names that end in "/_N" or begin with "Func/"; their path is
// the whole name.
NodePlace PlaceOfName(llvm::StringRef name);
bool IsAddedByLowering(llvm::StringRef name);

// False if the two places are known to be in different branches; their paths may still be equal.
// `a` and `b` are NodePlace::branches.
bool MayBeSameBranches(llvm::StringRef a, llvm::StringRef b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_NODE_PLACE_H_
