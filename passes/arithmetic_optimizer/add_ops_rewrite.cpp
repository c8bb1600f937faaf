// A tree of additions becomes one AddN; where shapes differ, one for each shape, and AddV2 between
// them, the smallest first.
//
//   Before:  (x + y) + (z + w), all [2,2]     After:  AddN(x, y, z, w)
//   Before:  (x:[] + m:[2,2]) + y:[]          After:  AddN(x, y) + m
//
// Refuses: nodes that are fetched, fed, kept or have control edges; inside the tree also those on
// another device or with other readers; shapes that are not known, be it as symbols.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "add_ops_rewrite";
constexpr char kStage[] = "AddOpsRewrite";

bool CanTake(Arithmetic& arithmetic, const Node& node) {
  if (!IsAdd(node) && node.op() != "AddN") return false;
  return !arithmetic.edit.IsPreserved(node) && !node.FindAttr(kAddOpsRewriteTag) &&
         !arithmetic.HasControls(node) && !arithmetic.DrivesControls(node);
}

void Tag(Arithmetic& arithmetic, const Node& node) {
  arithmetic.edit.SetAttr(node, kAddOpsRewriteTag, attr::Bool(true));
}

Port AddUp(Arithmetic& arithmetic, const Node& root, const std::string& name,
           llvm::ArrayRef<Port> terms) {
  if (terms.size() == 1) return terms[0];
  Node sum = arithmetic.Make(name, "AddN", root.device(), terms);
  arithmetic.SetType(sum, "T", root.GetType("T"));
  arithmetic.edit.SetAttr(sum, "N", attr::Int(static_cast<int64_t>(terms.size())));
  Tag(arithmetic, sum);
  return {sum.id(), 0};
}

}  // namespace

Simplified RewriteAddOps(Arithmetic& arithmetic, const Node& node) {
  auto is_candidate = [&](const Node& inner) { return IsAdd(inner) || inner.op() == "AddN"; };
  bool has_inner = false;
  for (int i = 0; i < node.num_inputs(); ++i) has_inner |= is_candidate(node.input_node(i));
  if (!has_inner || node.FindAttr(kAddOpsRewriteTag)) return std::nullopt;
  if (!CanTake(arithmetic, node)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept, or has control edges",
                           node.name());
    return std::nullopt;
  }
  if (!HasBroadcastableInputs(arithmetic, node)) {
    arithmetic.edit.Refuse(kRule, node, "the shapes of '{0}' and its inputs are not known",
                           node.name());
    return std::nullopt;
  }
  std::optional<Group> group = FindGroup(arithmetic, node, [&](const Node& inner) {
    return CanTake(arithmetic, inner) && arithmetic.NumValueReaders(inner) == 1 &&
           HasBroadcastableInputs(arithmetic, inner);
  });
  if (!group || group->absorbed.empty()) return std::nullopt;
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  for (const Node& absorbed : group->absorbed) arithmetic.edit.Used(absorbed);
  MarkGroup(arithmetic, *group, kAddOpsRewriteTag);

  struct Leaf {
    Shape shape;
    std::vector<Port> terms;
  };
  std::vector<Leaf> leaves;
  for (const Group::Input& input : group->inputs) {
    auto same = llvm::find_if(leaves, [&](const Leaf& leaf) { return leaf.shape == input.shape; });
    if (same == leaves.end()) same = leaves.insert(leaves.end(), {input.shape, {}});
    same->terms.push_back(input.port);
  }
  if (leaves.size() == 1)
    return AddUp(arithmetic, node, arithmetic.UniqueNameFor(node, kStage), leaves[0].terms);

  // TensorFlow's hash table gives them back latest first; that decides between shapes of one size.
  std::reverse(leaves.begin(), leaves.end());
  llvm::stable_sort(leaves,
                    [](const Leaf& a, const Leaf& b) { return IsSmaller(a.shape, b.shape); });
  std::vector<Port> sums;
  for (size_t i = 0; i < leaves.size(); ++i) {
    std::string name = arithmetic.UniqueNameFor(node, kStage, "Leaf_" + llvm::utostr(i));
    sums.push_back(AddUp(arithmetic, node, name, leaves[i].terms));
  }
  Port total = sums[0];
  for (size_t i = 1; i < sums.size(); ++i) {
    bool is_last = i + 1 == sums.size();
    std::string name =
        arithmetic.UniqueNameFor(node, kStage, is_last ? "" : "Internal_" + llvm::utostr(i - 1));
    Node add = arithmetic.Make(name, "AddV2", node.device(), {total, sums[i]});
    arithmetic.SetType(add, "T", node.GetType("T"));
    Tag(arithmetic, add);
    total = {add.id(), 0};
  }
  return total;
}

}  // namespace grapnel::arithmetic
