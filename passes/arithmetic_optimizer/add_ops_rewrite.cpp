// A tree of additions becomes one AddN; if shapes differ, one AddN for each shape that several
// terms have, and AddV2 nodes that add up the results, the smallest shape first.
//
//   Before:  (x + y) + (z + w), all [2,2]     After:  AddN(x, y, z, w)
//   Before:  (x:[] + m:[2,2]) + y:[]          After:  AddN(x, y) + m
//
// Refuses: nodes that are fetched, fed, kept or have control edges; nodes that this rule made or
// processed; inside the tree also nodes on another device or with other readers (not counting
// Shape); shapes that are unknown, even as symbols.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/arithmetic_optimizer/groups.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kStage[] = "AddOpsRewrite";

bool IsSum(const Node& node) { return IsAdd(node) || node.op() == "AddN"; }

bool CanTake(Arithmetic& rule, const Node& node) {
  return IsSum(node) && !rule.IsPreserved(node) && !node.FindAttr(kAddOpsRewriteTag) &&
         node.num_controls() == 0 && !rule.DrivesControls(node);
}

void Tag(Arithmetic& rule, const Node& node) {
  rule.edit.SetAttr(node, kAddOpsRewriteTag, attr::Bool(true));
}

// The inputs of the tree that have this shape; one AddN adds them up.
struct Leaf {
  Shape shape;
  std::vector<Port> terms;
};

std::vector<Leaf> LeavesOf(const Group& group) {
  std::vector<Leaf> leaves;
  for (const Group::Input& input : group.inputs) {
    auto same = llvm::find_if(leaves, [&](const Leaf& leaf) { return leaf.shape == input.shape; });
    if (same == leaves.end()) same = leaves.insert(leaves.end(), {input.shape, {}});
    same->terms.push_back(input.port);
  }
  // TensorFlow's hash table returns the shapes latest first, which decides the order among shapes
  // of one size.
  std::reverse(leaves.begin(), leaves.end());
  llvm::stable_sort(leaves,
                    [](const Leaf& a, const Leaf& b) { return IsSmaller(a.shape, b.shape); });
  return leaves;
}

Port AddUp(Arithmetic& rule, const Node& root, const std::string& name,
           llvm::ArrayRef<Port> terms) {
  if (terms.size() == 1) return terms[0];
  Node sum = rule.Make(name, "AddN", root.device(), terms);
  rule.SetType(sum, "T", root.GetType("T"));
  rule.edit.SetAttr(sum, "N", attr::Int(static_cast<int64_t>(terms.size())));
  Tag(rule, sum);
  return {sum.id(), 0};
}

Port AddUpLeaves(Arithmetic& rule, const Node& root, llvm::ArrayRef<Leaf> leaves) {
  std::vector<Port> sums;
  for (size_t i = 0; i < leaves.size(); ++i) {
    std::string name = rule.UniqueNameFor(root, kStage, "Leaf_" + llvm::utostr(i));
    sums.push_back(AddUp(rule, root, name, leaves[i].terms));
  }
  Port total = sums[0];
  for (size_t i = 1; i < sums.size(); ++i) {
    bool is_last = i + 1 == sums.size();
    std::string name =
        rule.UniqueNameFor(root, kStage, is_last ? "" : "Internal_" + llvm::utostr(i - 1));
    Node add = rule.Make(name, "AddV2", root.device(), {total, sums[i]});
    rule.SetType(add, "T", root.GetType("T"));
    Tag(rule, add);
    total = {add.id(), 0};
  }
  return total;
}

// The obstacles of the sums that `node` reads.
Obstacles InnerObstacles(Arithmetic& rule, const Node& node) {
  llvm::SmallVector<Node, 4> sums = {node};
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (IsSum(node.input_node(i))) sums.push_back(node.input_node(i));
  }
  return rule.ObstaclesAt(
      sums, Obstacles::kStays | Obstacles::kReaders | Obstacles::kControls | Obstacles::kDevice);
}

Verdict AddOpsRewrite(Arithmetic& rule, const Node& node) {
  bool has_inner = false;
  for (int i = 0; i < node.num_inputs(); ++i) has_inner |= IsSum(node.input_node(i));
  if (!has_inner || node.FindAttr(kAddOpsRewriteTag)) return rule.NotMine();
  if (!CanTake(rule, node))
    return rule.Refuse("'{0}' is fetched, fed or kept, or has control edges\nundo this: {1}",
                       node.name(),
                       rule.ObstaclesAt({node}, Obstacles::kStays | Obstacles::kControls));
  if (!HasBroadcastableInputs(rule, node))
    return rule.Refuse(
        "the shapes of '{0}' and its inputs are not known, or do not broadcast\n"
        "make the shapes of the inputs known, such as with --batch or --shape",
        node.name());
  std::optional<Group> group = FindGroup(rule, node, [&](const Node& inner) {
    return CanTake(rule, inner) && rule.NumValueReaders(inner) == 1 &&
           HasBroadcastableInputs(rule, inner);
  });
  if (!group)
    return rule.NotMine(
        "no sum that '{0}' reads can be taken: it is fetched, fed or kept, has another reader or "
        "control edges, is on another device, or has no known shape\nundo this: {1}",
        node.name(), InnerObstacles(rule, node));
  for (const Node& absorbed : group->absorbed) rule.edit.Used(absorbed);
  MarkGroup(rule, *group, kAddOpsRewriteTag);
  std::vector<Leaf> leaves = LeavesOf(*group);
  if (leaves.size() > 1) return rule.ReplaceBy(AddUpLeaves(rule, node, leaves));
  return rule.ReplaceBy(AddUp(rule, node, rule.UniqueNameFor(node, kStage), leaves[0].terms));
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = kFirst,
              .name = "add_ops_rewrite",
              .ops = {"Add", "AddV2", "AddN"},
              .help = "a tree of additions becomes AddN, one for each shape",
              .refuses = "nodes that are fetched, fed or kept, or have control edges; inner sums "
                         "with other readers or on another device; unknown shapes",
              .pattern = "(Add|AddV2|AddN)",
              .apply = AddOpsRewrite});

}  // namespace
}  // namespace grapnel::arithmetic
