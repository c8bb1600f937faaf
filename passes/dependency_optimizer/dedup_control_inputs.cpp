// Drops a control edge that repeats another edge between the same two nodes.
//
//   Before:  x -> y, x -^> y, z -^> y, z -^> y        After:  x -> y, z -^> y
//
// Refuses nothing.
#include "passes/dependency_optimizer/dependency_optimizer.h"

namespace grapnel {
namespace {

Verdict Dedup(Dependencies& rule, const Node& node) {
  DedupControlInputs(rule.edit, node);
  return rule.Changed();
}

GRAPNEL_RULE({.optimizer = "dependency_optimizer",
              .phase = kDuplicateEdges,
              .after = kFirst,
              .name = "dedup_control_inputs",
              .ops = {},
              .help = "drops a control edge that repeats another edge between the same nodes",
              .apply = Dedup,
              .may_apply = [](const Node& node) { return node.num_controls() > 0; }});

}  // namespace
}  // namespace grapnel
