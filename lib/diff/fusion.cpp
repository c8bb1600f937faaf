#include "lib/diff/fusion.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

bool IsContraction(llvm::StringRef op) {
  return op.contains("Conv2D") || op.contains("Conv2d") || op.contains("Conv3D") ||
         op.contains("MatMul") || op == "Einsum";
}

Fusion::Fusion(const Node& node) {
  llvm::StringRef op = node.op();
  if (!op.consume_front("_Fused")) return;
  base_ = op.str();
  if (std::optional<AttrView> ops = node.FindAttr("fused_ops")) {
    for (llvm::StringRef fused : ops->AsStrings().value_or(std::vector<llvm::StringRef>()))
      ops_.push_back(fused.str());
  }
}

bool Fusion::EndsIn(llvm::StringRef op) const {
  llvm::StringRef last = ops_.empty() ? base_ : ops_.back();
  return op == last || (last == "BiasAdd" && (op == "Add" || op == "AddV2"));
}

bool Fusion::CanBeOf(const Side& side, llvm::ArrayRef<int32_t> nodes) const {
  auto is_base = [&](int32_t node) { return IsBase(side.view->node(node).op()); };
  return nodes.size() >= 1 + ops_.size() && llvm::count_if(nodes, is_base) == 1;
}

}  // namespace grapnel
