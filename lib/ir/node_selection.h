// The nodes that a user means by a name: a node, a layer, or a pattern.
#ifndef GRAPNEL_LIB_IR_NODE_SELECTION_H_
#define GRAPNEL_LIB_IR_NODE_SELECTION_H_

#include <optional>
#include <set>
#include <string>

#include "lib/ir/module.h"
#include "lib/support/glob.h"

namespace grapnel {

class NodeSelection {
 public:
  // Reads `text` as the first of these that the module has:
  //   NODE, FUNCTION/NODE, NODE:0   the node (FindNode in lib/ir/find.h), and the nodes in the scope
  //                                 of that name
  //   a pattern (lib/support/glob.h)  the nodes whose names match, from any component on
  //   a part of a name                the nodes of that name in any scope, and the nodes in any scope
  //                                   of that name: "dense" for model/dense/MatMul
  // Error: a malformed pattern. Whether there are such nodes, only Has() tells: passes may make them.
  static Expected<NodeSelection> Parse(const Module& module, llvm::StringRef text);

  // The nodes of these names, which `text` stands for.
  static NodeSelection Of(std::string text, std::set<std::string, std::less<>> names);

  const std::string& text() const { return text_; }
  // `name`: NODE, or FUNCTION/NODE.
  bool Has(llvm::StringRef name) const;

 private:
  std::string text_;
  std::string part_;       // without an output's number
  bool is_whole_ = false;  // part_ is a node's whole name
  std::optional<Glob> glob_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_SELECTION_H_
