// Folds a Switch whose data input is its own predicate: each of its outputs has only one possible
// value.
//
//   Before:  p, p -> Switch -> :0 y, :1 z
//   After:   Switch -> :0 "ConstantFoldingCtrl/Switch_0":Identity
//                      -^-> "ConstantFolding/Switch_const_false":Const -> y
//                   -> :1 "ConstantFoldingCtrl/Switch_1":Identity
//                      -^-> "ConstantFolding/Switch_const_true":Const -> z
//
// Refuses: a Switch whose number of readers is not two, as in Grappler, or whose two readers are
// both Identities that nodes only wait for (anchors).
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict SimplifySwitch(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2 || node.input(0) != node.input(1)) return rule.NotMine();
  const std::string names[2] = {Folding::NameFor(node, "_const_false"),
                                Folding::NameFor(node, "_const_true")};
  if (rule.Exists(names[0]) || rule.Exists(names[1])) return rule.NotMine();
  if (rule.NumReaders(node) != 2) {
    return rule.Refuse("'{0}' has {1} readers, and TensorFlow requires two\nleave it two: {2}",
                       node.name(), rule.NumReaders(node),
                       rule.ObstaclesAt({node}, Obstacles::kReaders | Obstacles::kControls));
  }
  bool is_read = false;
  for (const Use& use : node.uses()) {
    Node reader = rule.graph.node(use.node);
    is_read |= !rule.kinds.Is(reader, kIdentityOp) || reader.HasDataUses();
  }
  if (!is_read) return rule.NotMine();
  for (int32_t port = 0; port < 2; ++port) {
    if (node.UsesOf(port).empty()) continue;
    llvm::SmallVector<Use, 4> uses = node.UsesOf(port);
    Node anchor = rule.Anchor({node.id(), port}, /*find=*/false);
    Node made = rule.edit.AddConstant(names[port], Literal::Scalar(proto::DT_BOOL, port),
                                      node.device(), anchor);
    for (const Use& use : uses) {
      if (use.node != anchor.id())
        rule.edit.SetInput(rule.graph.node(use.node), use.slot, {made.id(), 0});
    }
  }
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "constant_past_enter",
              .name = "simplify_switch",
              .ops = {"Switch"},
              .help = "folds the outputs of a Switch whose data is its own predicate",
              .refuses = "a Switch whose number of readers is not two, or whose readers are "
                         "Identities that are only waited for",
              .apply = SimplifySwitch});

}  // namespace
}  // namespace grapnel::constant_folding
