// Moves constants of sums and products to where they meet, so that they fold.
//
//   Before:  c1 + (c2 + x) -> y            the same with - and, in pairs of their own, * and /
//   After:   x + (c1 + c2) -> y            the inner node takes the constants
//
//   Before:  (m + bias) + c -> y           BiasAdd or Add, m or bias not constant
//   After:   (c + bias) + m -> y
//
// Refuses: an inner node that others read or that must stay; half and bfloat16, where the other
// order rounds too differently; integers unless both are Add or both Mul; a constant that would
// make the inner result larger; another device; an inner node that the constant waits for.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

constexpr char kRule[] = "constant_push_down";

// parent(constant, child(left, right)), in whichever order the parent has its inputs.
struct Tree {
  Node child;
  bool constant_is_left;
  bool left_leaf_is_constant;  // of the child; at most one of its leaves is
  Port constant, result;       // what the parent reads: the constant, and the child
};

bool IsAdd(const Node& node) {
  return node.op() == "AddV2" || (node.op() == "Add" && node.GetType("T") != proto::DT_STRING);
}
bool IsBiasAdd(const Node& node) { return node.op() == "BiasAdd" || node.op() == "BiasAddV1"; }

std::optional<Tree> Match(Folding& fold, const Node& parent) {
  if (!fold.has_fetches || parent.num_inputs() != 2) return std::nullopt;
  Tree tree;
  tree.constant_is_left = fold.IsConst(parent.input(0));
  if (!tree.constant_is_left && !fold.IsConst(parent.input(1))) return std::nullopt;
  tree.constant = parent.input(tree.constant_is_left ? 0 : 1);
  tree.result = parent.input(tree.constant_is_left ? 1 : 0);
  tree.child = fold.graph.node(tree.result.node);
  if (tree.child.num_inputs() != 2 || fold.IsConst(tree.result)) return std::nullopt;
  tree.left_leaf_is_constant = fold.IsConst(tree.child.input(0));
  if (tree.left_leaf_is_constant && fold.IsConst(tree.child.input(1))) return std::nullopt;
  return tree;
}

// What forbids it though the ops are right.
bool IsSafe(Folding& fold, const Node& parent, const Tree& tree) {
  const Node& child = tree.child;
  Node constant = fold.graph.node(tree.constant.node);
  auto refuse = [&](const char* format, const Node& named) {
    fold.edit.Refuse(kRule, parent, format, named.name());
    return false;
  };
  if (fold.edit.IsPreserved(child)) return refuse("'{0}' must stay as it is", child);
  if (child.NumDataUses() > 1) return refuse("'{0}' has other readers", child);
  for (const Node& other : {child, constant, child.input_node(0), child.input_node(1)}) {
    if (other.device_id() != parent.device_id()) return refuse("'{0}' is on another device", other);
  }
  DataType type = parent.GetType("T");
  if (type == proto::DT_HALF || type == proto::DT_BFLOAT16 || type == proto::DT_INVALID) {
    return refuse("the dtype of '{0}' is too short to add in another order", parent);
  }
  for (int i = 0; i < constant.num_controls(); ++i) {
    if (constant.control(i) == child) return refuse("'{0}' waits for the inner node", constant);
  }
  return true;
}

// Whether the child with the constant for its left leaf has the shape of its right leaf.
bool FitsRightLeaf(Folding& fold, const Node& parent, const Tree& tree) {
  Shape c = fold.ShapeOf(tree.constant), leaf = fold.ShapeOf(tree.child.input(1));
  if (!c.known_rank() || !leaf.known_rank()) return true;
  bool fits = true;
  if (c.IsFullyKnown() && leaf.IsFullyKnown() && *c.NumElements() > *leaf.NumElements()) {
    fits = false;
  } else {
    for (int i = 0; i < std::min(c.rank(), leaf.rank()); ++i)
      fits &= !leaf.IsKnown(i) || c.dim(i) <= leaf.dim(i);
  }
  if (!fits)
    fold.edit.Refuse(kRule, parent, "'{0}' is larger than '{1}'",
                     fold.graph.node(tree.constant.node).name(), tree.child.input_node(1).name());
  return fits;
}

void SetBinary(Folding& fold, const Node& node, llvm::StringRef op, Port left, Port right) {
  if (node.op() != op) fold.edit.SetOp(node, op);
  fold.edit.SetInput(node, 0, left);
  fold.edit.SetInput(node, 1, right);
}

// The ops that put `x`, `y` and the constant together again when Sub or Div is among them. A sign
// says which of them the whole subtracts (divides by).
void Reassociate(Folding& fold, const Node& parent, const Tree& tree, bool is_sum,
                 bool parent_symmetric, bool child_symmetric) {
  bool constant_left = tree.left_leaf_is_constant;
  Port x = tree.child.input(constant_left ? 1 : 0), y = tree.child.input(constant_left ? 0 : 1);
  bool child_negated = !parent_symmetric && tree.constant_is_left;
  auto is_negated = [&](bool is_right_leaf) {
    return (!child_symmetric && is_right_leaf) != child_negated;
  };
  bool negate_c = !parent_symmetric && !tree.constant_is_left;
  bool negate_x = is_negated(constant_left), negate_y = is_negated(!constant_left);
  const char* symmetric = is_sum ? "Add" : "Mul";
  const char* other = is_sum ? "Sub" : "Div";
  SetBinary(fold, tree.child, negate_c != negate_y ? other : symmetric,
            negate_c ? y : tree.constant, negate_c ? tree.constant : y);
  bool subtract = negate_x || (negate_c && negate_y);
  SetBinary(fold, parent, subtract ? other : symmetric, negate_x ? tree.result : x,
            negate_x ? x : tree.result);
}

}  // namespace

bool PushConstantsDown(Folding& fold, const Node& parent) {
  std::optional<Tree> tree = Match(fold, parent);
  if (!tree) return false;
  const Node& child = tree->child;
  auto is_sum = [](const Node& node) { return IsAdd(node) || node.op() == "Sub"; };
  auto is_product = [](const Node& node) { return node.op() == "Mul" || node.op() == "Div"; };
  bool sum = is_sum(parent) && is_sum(child);
  if (!sum && !(is_product(parent) && is_product(child))) return false;
  bool parent_symmetric = IsAdd(parent) || parent.op() == "Mul",
       child_symmetric = IsAdd(child) || child.op() == "Mul";
  DataType type = parent.GetType("T");
  if (!(parent_symmetric && child_symmetric) && !IsFloating(type) && !IsComplex(type)) return false;
  bool has_constant_leaf = tree->left_leaf_is_constant || fold.IsConst(child.input(1));
  if (!IsSafe(fold, parent, *tree) || (!has_constant_leaf && !FitsRightLeaf(fold, parent, *tree)))
    return false;

  Rewriting rewriting(fold, kRule, parent);
  if (!rewriting) return false;
  fold.shapes_lost.insert(parent.id());
  if (!parent_symmetric || !child_symmetric) {
    Reassociate(fold, parent, *tree, sum, parent_symmetric, child_symmetric);
    return true;
  }
  Port x = child.input(tree->left_leaf_is_constant ? 1 : 0),
       y = child.input(tree->left_leaf_is_constant ? 0 : 1);
  SetBinary(fold, child, child.op(), tree->constant, y);
  SetBinary(fold, parent, parent.op(), x, tree->result);
  return true;
}

bool PushConstantsDownBiasAdd(Folding& fold, const Node& parent) {
  bool parent_is_bias = IsBiasAdd(parent);
  std::optional<Tree> tree = Match(fold, parent);
  if (!tree || (tree->constant_is_left && parent_is_bias)) return false;
  const Node& child = tree->child;
  bool child_is_bias = IsBiasAdd(child);
  if (!child_is_bias && !IsAdd(child)) return false;
  Shape left = fold.ShapeOf(child.input(0)), right = fold.ShapeOf(child.input(1));
  Shape constant = fold.ShapeOf(tree->constant), result = fold.edit.ShapeOf(tree->result);
  if (!left.known_rank() || !right.known_rank() || !constant.known_rank() || !result.known_rank())
    return false;
  if (left.rank() != 1 && right.rank() != 1) return false;
  int vector = left.rank() == 1 ? 0 : 1, matrix = 1 - vector;
  int matrix_rank = vector == 0 ? right.rank() : left.rank();
  int leaf = -1;
  if (!parent_is_bias && child_is_bias && constant.rank() == matrix_rank) {
    leaf = matrix;
  } else if (constant.rank() == 1) {
    leaf = vector;
  }
  // A leaf that is constant folds with the new one only if the other is, and then there is nothing
  // to move.
  if (leaf < 0 || fold.IsConst(child.input(leaf)) || !IsSafe(fold, parent, *tree)) return false;
  Rewriting rewriting(fold, kRule, parent);
  if (!rewriting) return false;
  Port moved = child.input(leaf);
  fold.edit.SetInput(child, leaf, tree->constant);
  fold.edit.SetInput(parent, tree->constant_is_left ? 0 : 1, moved);
  return true;
}

}  // namespace grapnel::constant_folding
