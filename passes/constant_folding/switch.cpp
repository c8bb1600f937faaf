// A Switch on its own predicate: each of its outputs has one value only.
//
//   Before:  p, p -> Switch -> :0 y, :1 z
//   After:   Switch -> :0 "ConstantFoldingCtrl/Switch_0":Identity
//                      -^-> "ConstantFolding/Switch_const_false":Const -> y
//                   -> :1 "ConstantFoldingCtrl/Switch_1":Identity
//                      -^-> "ConstantFolding/Switch_const_true":Const -> z
//
// Refuses: a Switch of which the outputs are read by nothing but such anchors.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {

bool SimplifySwitch(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2 || node.input(0) != node.input(1)) return false;
  const std::string names[2] = {Folding::NameFor(node, "_const_false"),
                                Folding::NameFor(node, "_const_true")};
  if (fold.Exists(names[0]) || fold.Exists(names[1])) return false;
  bool is_read = false;
  for (const Use& use : node.uses()) {
    Node reader = fold.graph.node(use.node);
    is_read |= !fold.kinds.Is(reader, kIdentityOp) || reader.HasDataUses();
  }
  if (!is_read) return false;
  Rewriting rewriting(fold, "simplify_switch", node);
  if (!rewriting) return false;
  for (int32_t port = 0; port < 2; ++port) {
    if (node.UsesOf(port).empty()) continue;
    llvm::SmallVector<Use, 4> uses = node.UsesOf(port);
    Node anchor = fold.Anchor({node.id(), port});
    Node made = fold.edit.AddConstant(names[port], Literal::Scalar(proto::DT_BOOL, port),
                                      node.device(), anchor);
    for (const Use& use : uses) {
      if (use.node != anchor.id())
        fold.edit.SetInput(fold.graph.node(use.node), use.slot, {made.id(), 0});
    }
  }
  return true;
}

}  // namespace grapnel::constant_folding
