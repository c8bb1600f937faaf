// Selects the nodes of a picture, and folds some of them into their readers.
#ifndef GRAPNEL_LIB_RENDER_SELECTION_H_
#define GRAPNEL_LIB_RENDER_SELECTION_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/hidden_nodes.h"
#include "lib/render/picture.h"
#include "lib/render/scope_tree.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// Returns, by node id, whether a node is within `hops` data or control edges of `center`, in either
// direction.
std::vector<bool> NodesAround(const Node& center, int hops);

// Returns, by node id, whether a node is on a directed path of data or control edges from `from` to
// `to`, including both. Errors: there is no path; the nodes are in different bodies.
Expected<std::vector<bool>> NodesBetween(const Node& from, const Node& to);

struct FoldOptions {
  bool constants = true;
  bool no_ops = true;
  std::vector<bool> keep;  // by id, may be empty: true for nodes never to fold
  // If this is the body, its arguments that the main graph gives constants count as constants, and
  // what only forwards results is folded. May be null.
  const SignatureBody* signature = nullptr;
  // The graph is the body or the condition of a While: what the loop does not change counts as
  // constant.
  bool of_loop = false;
  // Nodes to remove. This happens after folding, so that nodes that were folded into them get no
  // boxes either. May be null.
  const HiddenNodes* hidden = nullptr;
};

struct Folding {
  std::vector<NodeUse> uses;  // by node id
  // By id: for a NoOp that was folded because exactly one node waits for it, that node (after a
  // chain of NoOps, the shown node at its end), which takes over the control inputs; for an
  // Identity that only a result reads, the result; else kNoNode.
  std::vector<NodeId> waits;
  size_t constants = 0, variables = 0, constant_reads = 0, no_ops = 0, forwards = 0, invariants = 0;
};

// Returns the bodies and conditions of the module's While loops, each with the first of its loops.
// Linear in the nodes.
llvm::DenseMap<const Graph*, Node> LoopGraphs(const Module& module);

// Folds nodes, so that they have no boxes of their own; notes of their readers mention most of
// them: constants and variables that are read (in a function, arguments that are resources),
// Identity and ReadVariableOp nodes that read only such nodes, NoOps that wait only for such nodes,
// and NoOps that exactly one node waits for. At the end of a signature's body, also folds NoOps
// that wait only for nodes that the results need anyway, and Identity nodes that only a result
// reads. In a loop, also folds what it does not change: results that are the argument of the same
// number, and arguments that nothing else reads. `selected` is by node id; empty: all nodes. Takes
// time linear in the graph.
Folding Fold(const Graph& graph, const std::vector<bool>& selected, const FoldOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SELECTION_H_
