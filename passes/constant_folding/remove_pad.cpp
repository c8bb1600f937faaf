// Removes a Pad or PadV2 by nothing.
//
//   Before:  x:[3], [[0,0]]:Const -> Pad -> y
//   After:   x -> Identity -> y, [[0,0]] -^-> Identity
//
// Refuses: paddings that are not constant; MirrorPad, as TensorFlow does.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemovePad(Folding& rule, const Node& node) {
  std::optional<std::vector<int64_t>> paddings = rule.ConstantInts(node, 1);
  if (!paddings || !llvm::all_of(*paddings, [](int64_t n) { return n == 0; }))
    return rule.NotMine("'{0}' pads by something, or by what is not a constant", node.name());
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_tile",
              .name = "remove_pad",
              .ops = {"Pad", "PadV2"},
              .help = "removes padding by nothing",
              .refuses = "paddings that are not constant",
              .pattern = "(_, Const)",
              .apply = RemovePad});

}  // namespace
}  // namespace grapnel::constant_folding
