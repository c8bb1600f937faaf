// Removes unread nodes.
//
//   Before:  x -> y, x -> Neg                           After:  x -> y
//
// Refuses: nodes that must stay; in function bodies also state and effects; everything if nothing
// is fetched, because then any node may be requested; a Merge that once had readers, and reads a
// constant that waits for nothing: Grappler leaves it to the pruner.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

bool StaysAsMerge(Folding& fold, const Node& node) {
  if (!fold.merges_once_read.contains(node.id())) return false;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (fold.IsConst(node.input(i)) && node.input_node(i).num_controls() == 0) return true;
  }
  return false;
}

}  // namespace

bool IsUnread(Folding& fold, const Node& node) {
  bool stays = !fold.has_fetches || fold.IsPreserved(node) ||
               (fold.edit.boundary().keep_stateful && fold.kinds.Is(node, kStatefulOp));
  return node.uses().empty() && !stays && !StaysAsMerge(fold, node);
}

namespace {

Verdict DropUnread(Folding& rule, const Node& node) {
  rule.edit.RemoveNode(node);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kDropUnread,
              .after = kFirst,
              .name = "drop_unread",
              .ops = {},  // any op
              .help = "removes unread nodes",
              .refuses = "everything if nothing is fetched; nodes that are fetched, fed or kept; "
                         "in function bodies also state and effects; a Merge that had readers and "
                         "reads a constant without control inputs",
              .apply = DropUnread});

}  // namespace
}  // namespace grapnel::constant_folding
