// Removes what nobody reads.
//
//   Before:  x -> y, x -> Neg                           After:  x -> y
//
// Refuses: what must stay; in function bodies also state and effects; everything where nothing is
// fetched, because then any node may be asked for.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {

bool IsUnread(Folding& fold, const Node& node) {
  bool stays = !fold.has_fetches || fold.IsPreserved(node) ||
               (fold.edit.boundary().keep_stateful && fold.kinds.Is(node, kStatefulOp));
  return node.uses().empty() && !stays;
}

namespace {

Verdict DropUnread(Folding& rule, const Node& node) {
  rule.edit.RemoveNode(node);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .place = kDropUnread + 0,
              .name = "drop_unread",
              .ops = {},  // any
              .help = "removes what nobody reads",
              .refuses = "what must stay; in function bodies also state and effects",
              .apply = DropUnread});

}  // namespace
}  // namespace grapnel::constant_folding
