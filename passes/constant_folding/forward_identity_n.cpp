// Lets readers of an IdentityN read its constant inputs directly.
//
//   Before:  k:Const, x -> IdentityN -> :0 y, :1 z
//   After:   k -> y, IdentityN -^-> y, IdentityN -> :1 z
//
// Refuses: an IdentityN with control inputs, as TensorFlow does; readers that are results of a
// function.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict ForwardIdentityN(Folding& rule, const Node& node) {
  llvm::SmallVector<Use, 4> uses;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!rule.IsConst(node.input(i))) continue;
    for (const Use& use : node.UsesOf(i)) {
      // A _Retval cannot wait for anything except its input.
      if (!rule.kinds.Is(rule.graph.node(use.node), kRetvalOp)) uses.push_back(use);
    }
  }
  if (uses.empty()) return rule.NotMine();
  if (node.num_controls() > 0)
    return rule.Refuse(
        "'{0}' has a control input from '{1}', and TensorFlow then forwards nothing\n"
        "remove the control edge",
        node.name(), node.control(0).name());
  for (const Use& use : uses) {
    Node reader = rule.graph.node(use.node);
    rule.edit.SetInput(reader, use.slot, node.input(reader.input(use.slot).index));
  }
  for (const Use& use : uses) {
    Node reader = rule.graph.node(use.node);
    llvm::SmallVector<Port, 4> inputs = reader.inputs();
    if (llvm::none_of(inputs, [&](Port port) { return port.node == node.id(); }))
      rule.edit.AddControl(reader, node);
  }
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "mul_conv_push_down",
              .name = "forward_identity_n",
              .ops = {"IdentityN"},
              .help = "readers of an IdentityN read its constant inputs directly",
              .refuses = "an IdentityN with control inputs; readers that are results of a function",
              .apply = ForwardIdentityN});

}  // namespace
}  // namespace grapnel::constant_folding
