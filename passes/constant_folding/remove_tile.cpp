// Removes a Tile that repeats nothing.
//
//   Before:  x:[2,3], [1,1]:Const -> Tile -> y
//   After:   x -> Identity -> y, [1,1] -^-> Identity
//
// Refuses: multiples that are not constant.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemoveTile(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  std::optional<std::vector<int64_t>> multiples = rule.ConstantInts(node, 1);
  if (!multiples || !llvm::all_of(*multiples, [](int64_t n) { return n == 1; }))
    return rule.NotMine("'{0}' repeats something, or by what is not a constant", node.name());
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_slice",
              .name = "remove_tile",
              .ops = {"Tile"},
              .help = "removes a Tile that repeats nothing",
              .refuses = "multiples that are not constant",
              .pattern = "(_, Const)",
              .apply = RemoveTile});

}  // namespace
}  // namespace grapnel::constant_folding
