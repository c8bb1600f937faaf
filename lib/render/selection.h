// Selects the nodes of a picture, and folds some of them into their readers.
#ifndef GRAPNEL_LIB_RENDER_SELECTION_H_
#define GRAPNEL_LIB_RENDER_SELECTION_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/hidden_nodes.h"
#include "lib/render/picture.h"
#include "lib/render/scope_tree.h"

namespace grapnel {

// Returns the nodes of one body within `hops` edges of `center`, in either direction, data or
// control; by id.
std::vector<bool> NodesAround(const Node& center, int hops);

// Returns the nodes on directed paths from `from` to `to`, both included; data or control. Error if
// there is no path.
Expected<std::vector<bool>> NodesBetween(const Node& from, const Node& to);

// True for a Const, or one in the host's memory.
bool IsConstant(const Node& node);

struct FoldOptions {
  bool constants = true;
  bool no_ops = true;
  std::vector<bool> keep;  // by id, may be empty: never folded
  // Removed after everything else is folded, with the nodes that only they read. Null: none.
  const HiddenNodes* hidden = nullptr;
};

struct Folding {
  std::vector<NodeUse> uses;  // by id
  // For a folded NoOp, the node that waits for it and takes over its control inputs. Else kNoNode.
  std::vector<NodeId> waits;
  size_t constants = 0, variables = 0, constant_reads = 0, no_ops = 0;
};

// Folds constants and variables that are read (in a function, arguments that are handles), Identity
// and ReadVariableOp nodes that read only those, and NoOps that exactly one node waits for.
// `selected` by id; empty: all. Linear.
Folding Fold(const Graph& graph, const std::vector<bool>& selected, const FoldOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SELECTION_H_
