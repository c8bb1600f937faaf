// Reorders sums and products of several tensors so that small ones come first. The nodes stay;
// their inputs are swapped.
//
//   Before:  (m:[2,2] * a:[]) * (n:[2,2] * b:[])     After:  (a * b) * (m * n)
//
// Refuses: unknown shapes; trees whose last node waits for other nodes; nodes inside the tree that
// are fetched, fed, kept, read elsewhere, have control edges or are on another device; nodes that
// add_ops_rewrite or this rule has processed.
#include <deque>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/groups.h"

namespace grapnel::arithmetic {
namespace {

bool IsTagged(const Node& node) {
  return node.FindAttr(kMinimizeBroadcastsTag) || node.FindAttr(kAddOpsRewriteTag);
}

bool HasOneShape(const Group& group) {
  return llvm::all_of(group.inputs, [&](const Group::Input& input) {
    return input.shape == group.inputs[0].shape;
  });
}

void SetOperands(Arithmetic& rule, const Node& node, Port left, Port right) {
  if (node.input(0) == left && node.input(1) == right) return;
  rule.edit.SetInput(node, 0, left);
  rule.edit.SetInput(node, 1, right);
  rule.ForgetShape(node);
  rule.Enqueue(node);
}

void SmallestFirst(Arithmetic& rule, const Group& group) {
  std::deque<Group::Input> terms(group.inputs.begin(), group.inputs.end());
  llvm::stable_sort(terms, [](const Group::Input& a, const Group::Input& b) {
    return IsSmaller(a.shape, b.shape);
  });
  // If the number of terms is odd, the root combines the largest one with all others.
  std::optional<Port> largest;
  if (terms.size() % 2 != 0) {
    largest = terms.back().port;
    terms.pop_back();
  }
  std::vector<Node> free = group.absorbed;
  while (terms.size() > 1) {
    Port left = terms[0].port, right = terms[1].port;
    terms.erase(terms.begin(), terms.begin() + 2);
    Node at = group.root;
    if (!free.empty()) {
      at = free.back();
      free.pop_back();
    }
    SetOperands(rule, at, left, right);
    // Queues the result last, which gives a wide tree with fewer temporary tensors; but first if
    // the next two terms differ in size, so that small terms are combined before a broadcast.
    Group::Input made{{at.id(), 0}, Shape::Scalar()};
    if (terms.size() >= 2 && IsSmaller(terms[0].shape, terms[1].shape)) {
      terms.push_front(made);
    } else {
      terms.push_back(made);
    }
  }
  if (largest) SetOperands(rule, group.root, terms[0].port, *largest);
}

Verdict MinimizeBroadcasts(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2 || (node.op() != "Mul" && !IsAdd(node))) return rule.NotMine();
  auto is_same_op = [&](const Node& inner) { return inner.op_id() == node.op_id(); };
  if (!is_same_op(node.input_node(0)) && !is_same_op(node.input_node(1))) return rule.NotMine();
  if (IsTagged(node)) return rule.NotMine();
  if (node.num_controls() > 0) {
    return rule.Refuse("'{0}' waits for other nodes\nremove these edges: {1}", node.name(),
                       rule.ObstaclesAt({node}, Obstacles::kControls));
  }
  if (!HasBroadcastableInputs(rule, node)) {
    return rule.Refuse(
        "the shapes of '{0}' and its inputs are not known, or do not broadcast\nmake the shapes of "
        "the inputs known, such as with --batch or --shape",
        node.name());
  }
  std::optional<Group> group = FindGroup(rule, node, [&](const Node& inner) {
    return is_same_op(inner) && !rule.IsPreserved(inner) && !IsTagged(inner) &&
           !rule.DrivesControls(inner) && inner.NumDataUses() == 1 &&
           HasBroadcastableInputs(rule, inner);
  });
  if (!group)
    return rule.NotMine(
        "no {1} that '{0}' reads can be taken: it is fetched, fed or kept, has another reader or "
        "control edges, or is on another device\nundo this: {2}",
        node.name(), node.op(),
        rule.ObstaclesAt(
            {node, node.input_node(0), node.input_node(1)},
            Obstacles::kStays | Obstacles::kReaders | Obstacles::kControls | Obstacles::kDevice));
  MarkGroup(rule, *group, kMinimizeBroadcastsTag);
  if (!HasOneShape(*group)) SmallestFirst(rule, *group);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "hoist_common_factor",
     .name = "minimize_broadcasts",
     .ops = {"Mul", "Add", "AddV2"},
     .help = "adds and multiplies small tensors first",
     .refuses = "unknown shapes; trees whose last node waits for other nodes; inner nodes that are "
                "fetched, fed, kept or read elsewhere, have control edges or are on another device",
     .pattern = "Mul(Mul); Add|AddV2(Add|AddV2)",
     .apply = MinimizeBroadcasts});

}  // namespace
}  // namespace grapnel::arithmetic
