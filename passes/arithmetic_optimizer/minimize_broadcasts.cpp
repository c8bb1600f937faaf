// Sums and products of several tensors start with the small ones. The nodes stay, their inputs
// change places.
//
//   Before:  (m:[2,2] * a:[]) * (n:[2,2] * b:[])     After:  (a * b) * (m * n)
//
// Refuses: shapes that are not known; nodes inside the tree that are fetched, fed, kept, read
// elsewhere, have control edges or are on another device; what add_ops_rewrite has dealt with.
#include <deque>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "minimize_broadcasts";

bool IsTagged(const Node& node) {
  return node.FindAttr(kMinimizeBroadcastsTag) || node.FindAttr(kAddOpsRewriteTag);
}

void SetOperands(Arithmetic& arithmetic, const Node& node, Port left, Port right) {
  if (node.input(0) == left && node.input(1) == right) return;
  arithmetic.edit.SetInput(node, 0, left);
  arithmetic.edit.SetInput(node, 1, right);
  arithmetic.ForgetShape(node);
  arithmetic.Enqueue(node);
}

}  // namespace

Simplified MinimizeBroadcasts(Arithmetic& arithmetic, const Node& node) {
  if (node.num_inputs() != 2 || (node.op() != "Mul" && !IsAdd(node)) || IsTagged(node))
    return std::nullopt;
  bool has_inner =
      node.input_node(0).op_id() == node.op_id() || node.input_node(1).op_id() == node.op_id();
  if (!has_inner) return std::nullopt;
  if (!HasBroadcastableInputs(arithmetic, node)) {
    arithmetic.edit.Refuse(kRule, node,
                           "the shapes of '{0}' and its inputs are not known, or it waits for "
                           "something",
                           node.name());
    return std::nullopt;
  }
  std::optional<Group> group = FindGroup(arithmetic, node, [&](const Node& inner) {
    return inner.op_id() == node.op_id() && !arithmetic.edit.IsPreserved(inner) &&
           !IsTagged(inner) && !arithmetic.DrivesControls(inner) && inner.NumDataUses() == 1 &&
           HasBroadcastableInputs(arithmetic, inner);
  });
  if (!group || group->absorbed.empty()) return std::nullopt;
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  MarkGroup(arithmetic, *group, kMinimizeBroadcastsTag);
  std::deque<Group::Input> terms(group->inputs.begin(), group->inputs.end());
  if (llvm::all_of(terms, [&](const Group::Input& term) { return term.shape == terms[0].shape; }))
    return InPlace(node);

  llvm::stable_sort(terms, [](const Group::Input& a, const Group::Input& b) {
    return IsSmaller(a.shape, b.shape);
  });
  // Of an odd number the largest comes in at the root.
  std::optional<Port> largest;
  if (terms.size() % 2 != 0) {
    largest = terms.back().port;
    terms.pop_back();
  }
  std::vector<Node> free = group->absorbed;
  while (terms.size() > 1) {
    Port left = terms[0].port, right = terms[1].port;
    terms.erase(terms.begin(), terms.begin() + 2);
    Node at = node;
    if (!free.empty()) {
      at = free.back();
      free.pop_back();
    }
    SetOperands(arithmetic, at, left, right);
    // A wide tree needs fewer temporary tensors; where the next step would broadcast, what is small
    // goes first.
    Group::Input made{{at.id(), 0}, Shape::Scalar()};
    if (terms.size() >= 2 && IsSmaller(terms[0].shape, terms[1].shape)) {
      terms.push_front(made);
    } else {
      terms.push_back(made);
    }
  }
  if (largest) SetOperands(arithmetic, node, terms[0].port, *largest);
  return InPlace(node);
}

}  // namespace grapnel::arithmetic
