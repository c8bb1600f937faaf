// Lets readers of IdentityN have its constant inputs directly.
//
//   Before:  k:Const, x -> IdentityN -> :0 y, :1 z
//   After:   k -> y, IdentityN -^-> y, IdentityN -> :1 z
//
// Refuses: an IdentityN that waits for something, because readers would then not.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {

bool ForwardIdentityN(Folding& fold, const Node& node) {
  constexpr char kRule[] = "forward_identity_n";
  llvm::SmallVector<Use, 4> uses;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!fold.IsConst(node.input(i))) continue;
    for (const Use& use : node.UsesOf(i)) {
      // A _Retval cannot wait for anything but what it returns.
      if (!fold.kinds.Is(fold.graph.node(use.node), kRetvalOp)) uses.push_back(use);
    }
  }
  if (uses.empty()) return false;
  if (node.num_controls() > 0) {
    fold.edit.Refuse(kRule, node, "'{0}' waits for '{1}'", node.name(), node.control(0).name());
    return false;
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  for (const Use& use : uses) {
    Node reader = fold.graph.node(use.node);
    fold.edit.SetInput(reader, use.slot, node.input(reader.input(use.slot).index));
  }
  for (const Use& use : uses) {
    Node reader = fold.graph.node(use.node);
    llvm::SmallVector<Port, 4> inputs = reader.inputs();
    if (llvm::none_of(inputs, [&](Port port) { return port.node == node.id(); }))
      fold.edit.AddControl(reader, node);
  }
  return true;
}

}  // namespace grapnel::constant_folding
