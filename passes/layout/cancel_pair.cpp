// Removes two conversions that cancel; only those that this pass added.
//
//   Before:  x -> Transpose [0,2,3,1] -> Transpose [0,3,1,2] -> y      After:  x -> y
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

bool IsUndoneBy(Conversion& rule, const Node& first, const Node& second) {
  if (AreInverse(rule.PermOf(second), rule.PermOf(first))) return true;
  return first.op().starts_with("DataFormat") && second.op().starts_with("DataFormat") &&
         first.GetString("src_format") == second.GetString("dst_format") &&
         first.GetString("dst_format") == second.GetString("src_format");
}

void RemoveConversion(Editor& edit, const Node& node) {
  if (!node.uses().empty()) return;
  Node perm = node.num_inputs() > 1 ? node.input_node(1) : Node();
  edit.RemoveNode(node);
  if (perm && perm.uses().empty()) edit.RemoveNode(perm);
}

Verdict CancelPair(Conversion& rule, const Node& second) {
  Node first = rule.Input(second, 0);
  if (!first || !rule.IsAdded(second) || !rule.IsAdded(first) || first.num_inputs() < 1 ||
      !IsUndoneBy(rule, first, second))
    return rule.NotMine();
  rule.edit.RedirectPort({second.id(), 0}, first.input(0));
  RemoveConversion(rule.edit, second);
  RemoveConversion(rule.edit, first);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "layout",
              .phase = kPairs,
              .name = "cancel_pair",
              .ops = {"DataFormatDimMap", "DataFormatVecPermute", "Transpose"},
              .help = "removes two layout conversions of this pass that cancel",
              .apply = CancelPair});

}  // namespace
}  // namespace grapnel::layout
