// Which nodes of which bodies a picture is about, and which of them are folded into their readers.
#ifndef GRAPNEL_LIB_RENDER_SELECTION_H_
#define GRAPNEL_LIB_RENDER_SELECTION_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/hidden_nodes.h"
#include "lib/render/picture.h"
#include "lib/render/scope_tree.h"

namespace grapnel {

// Nodes of one body within `hops` edges of `center`, either way, data or control; true at their
// ids.
std::vector<bool> NodesAround(const Node& center, int hops);

// Nodes on directed paths from `from` to `to`, both included; data or control. Error when there is
// none.
Expected<std::vector<bool>> NodesBetween(const Node& from, const Node& to);

// A Const, or one in the host's memory.
bool IsConstant(const Node& node);

struct FoldOptions {
  bool constants = true;
  bool no_ops = true;
  std::vector<bool> keep;  // by id, may be empty: never folded
  // Outside after all else is folded: what only they read is not seen either. Null: none.
  const HiddenNodes* hidden = nullptr;
};

struct Folding {
  std::vector<NodeUse> uses;  // by id
  // Of a folded NoOp, the node that waits for it: what the NoOp waits for, that one waits for. Else
  // kNoNode.
  std::vector<NodeId> waits;
  size_t constants = 0, variables = 0, constant_reads = 0, no_ops = 0;
};

// Folds constants and variables that are read (of a function, arguments that are handles), Identity
// and ReadVariableOp nodes that read nothing but them, and NoOps that exactly one node waits for.
// `selected` by id; empty: all. Linear.
Folding Fold(const Graph& graph, const std::vector<bool>& selected, const FoldOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SELECTION_H_
