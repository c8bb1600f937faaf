// Removes two Transposes that cancel around a Pad, which then pads other dimensions.
//
//   Before:  x -> Transpose [0,2,3,1] -> Pad p -> Transpose [0,3,1,2] -> y
//   After:   x -> Identity -> Pad p' -> Identity -> y
//
// Applies to all Transposes, not only to those that this pass added.
//
// Refuses: a Pad with other readers than such Transposes; a first Transpose or paddings with other
// readers; a Pad, first Transpose or paddings that are fetched, fed or kept; paddings that are not
// an int32 constant.
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

bool IsReadOnce(const Node& node) { return node.uses().size() == 1; }

// The readers of the Pad, if all of them are Transposes that undo the permutation `before`;
// otherwise empty.
std::vector<Node> TransposesAfter(Conversion& rule, const Node& pad,
                                  llvm::ArrayRef<int64_t> before) {
  std::vector<Node> after;
  for (const Use& use : pad.uses()) {
    Node reader = rule.graph.node(use.node);
    if (use.slot != 0 || !AreInverse(rule.PermOf(reader), before)) return {};
    after.push_back(reader);
  }
  return after;
}

// The rows of `paddings`, one for each dimension, reordered by `perm`.
Literal Permuted(const Literal& paddings, llvm::ArrayRef<int64_t> perm) {
  std::vector<int64_t> old = paddings.AsInts(), permuted;
  for (int64_t i : perm) {
    permuted.push_back(old[2 * i]);
    permuted.push_back(old[2 * i + 1]);
  }
  return Literal::Integers(proto::DT_INT32, paddings.dims(), permuted);
}

void BecomeIdentity(Editor& edit, const Node& transpose) {
  edit.SetOp(transpose, "Identity");
  edit.RemoveInput(transpose, 1);
  edit.RemoveAttr(transpose, "Tperm");
  edit.RemoveAttr(transpose, "_output_shapes");
}

Verdict CancelAroundPad(Conversion& rule, const Node& pad) {
  if (pad.num_inputs() != 2) return rule.NotMine();
  Node before = pad.input_node(0), paddings = pad.input_node(1);
  std::vector<int64_t> perm_before = rule.PermOf(before);
  if (perm_before.empty()) return rule.NotMine();
  std::vector<Node> after = TransposesAfter(rule, pad, perm_before);
  if (after.empty()) return rule.NotMine();
  const Literal* value = rule.edit.ConstantOf(paddings);
  if (!value || value->dtype() != proto::DT_INT32) return rule.NotMine();
  if (!IsReadOnce(before) || !IsReadOnce(paddings) || rule.IsPreserved(pad) ||
      rule.IsPreserved(before) || rule.IsPreserved(paddings))
    return rule.Refuse(
        "'{0}' or one of its inputs is fetched, fed or kept, or an input has other readers\n"
        "undo this: {1}",
        pad.name(),
        rule.ObstaclesAt({before, paddings, pad}, Obstacles::kStays | Obstacles::kReaders));
  if (value->num_elements() != 2 * static_cast<int64_t>(perm_before.size())) return rule.NotMine();
  Literal permuted = Permuted(*value, rule.PermOf(after[0]));
  llvm::SmallVector<Node, 2> controls;
  for (int i = 0; i < paddings.num_controls(); ++i) controls.push_back(paddings.control(i));
  rule.edit.TurnIntoConstant(paddings, permuted, controls);
  rule.edit.RemoveAttr(pad, "_output_shapes");
  BecomeIdentity(rule.edit, before);
  for (const Node& transpose : after) BecomeIdentity(rule.edit, transpose);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "layout",
     .phase = kAroundPads,
     .name = "cancel_around_pad",
     .ops = {"Pad"},
     .help = "removes two Transposes that cancel around a Pad, which then pads other dimensions",
     .refuses =
         "a Pad with other readers than such Transposes; a Pad that is, or has an input that is, "
         "fetched, fed or kept; inputs with other readers; paddings that are not an int32 constant",
     .apply = CancelAroundPad});

}  // namespace
}  // namespace grapnel::layout
