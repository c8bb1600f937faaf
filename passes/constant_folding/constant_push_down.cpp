// Moves the constants of nested sums and products together, so that they fold. Two stages of
// Grappler are one rule here: they match the same tree, the same conditions forbid them, and no
// stage between the two affects the ops of the second.
//
//   Before:  c1 + (c2 + x) -> y            likewise with - in place of +, or with * and /
//   After:   x + (c1 + c2) -> y            the inner node takes the constants
//
//   Before:  (m + bias) + c -> y           BiasAdd or Add, m or bias not constant
//   After:   (c + bias) + m -> y
//
// Refuses: everything if nothing is fetched; an inner node that others read or that must stay; half
// and bfloat16, where the other order rounds too differently; integers unless both are Add or both
// Mul; a constant that would make the inner result larger; another device; a constant that waits
// for the inner node, directly or through others: TensorFlow detects only a direct wait, otherwise
// makes a cycle, and then drops the pass for the whole graph
// (docs/reference/found-in-tensorflow.md).
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The tree parent(constant, child(left, right)) that the rule matches; the parent's inputs may be
// in either order.
struct Tree {
  Node child;
  bool constant_is_left;
  bool left_leaf_is_constant;  // whether the child's left leaf is constant; at most one leaf is
  Port constant, result;       // inputs of the parent: the constant, and the child
};

bool IsAdd(const Node& node) {
  return node.op() == "AddV2" || (node.op() == "Add" && node.GetType("T") != proto::DT_STRING);
}
bool IsBiasAdd(const Node& node) { return node.op() == "BiasAdd" || node.op() == "BiasAddV1"; }

std::optional<Tree> Match(Folding& rule, const Node& parent) {
  if (!rule.has_fetches || parent.num_inputs() != 2) return std::nullopt;
  Tree tree;
  tree.constant_is_left = rule.IsConst(parent.input(0));
  if (!tree.constant_is_left && !rule.IsConst(parent.input(1))) return std::nullopt;
  tree.constant = parent.input(tree.constant_is_left ? 0 : 1);
  tree.result = parent.input(tree.constant_is_left ? 1 : 0);
  tree.child = rule.graph.node(tree.result.node);
  if (tree.child.num_inputs() != 2 || rule.IsConst(tree.result)) return std::nullopt;
  tree.left_leaf_is_constant = rule.IsConst(tree.child.input(0));
  if (tree.left_leaf_is_constant && rule.IsConst(tree.child.input(1))) return std::nullopt;
  return tree;
}

// True if the constant waits for the child, directly or through other nodes.
bool WaitsFor(Folding& rule, const Node& constant, const Node& child) {
  llvm::SmallVector<NodeId, 8> open = {constant.id()};
  llvm::DenseSet<NodeId> seen;
  while (!open.empty()) {
    NodeId id = open.pop_back_val();
    if (id == kNoNode || !seen.insert(id).second) continue;
    if (id == child.id()) return true;
    for (Port port : rule.graph.node(id).inputs()) open.push_back(port.node);
  }
  return false;
}

// False, with a refusal, if a condition forbids the rewrite although the ops match.
bool IsSafe(Folding& rule, const Node& parent, const Tree& tree) {
  const Node& child = tree.child;
  Node constant = rule.graph.node(tree.constant.node);
  if (rule.IsPreserved(child))
    return rule.Fails(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        child.name());
  if (child.NumDataUses() > 1)
    return rule.Fails("'{0}' has other readers\nleave it one reader: {1}", child.name(),
                      rule.ObstaclesAt({child}, Obstacles::kReaders));
  for (const Node& other : {child, constant, child.input_node(0), child.input_node(1)}) {
    if (other.device_id() != parent.device_id())
      return rule.Fails("'{0}' is on another device\nplace both on one device: {1}", other.name(),
                        rule.ObstaclesAt({other, parent}, Obstacles::kDevice));
  }
  DataType type = parent.GetType("T");
  if (type == proto::DT_HALF || type == proto::DT_BFLOAT16 || type == proto::DT_INVALID) {
    return rule.Fails("the dtype of '{0}' rounds too much for another order\ncompute it in float",
                      parent.name());
  }
  for (int i = 0; i < constant.num_controls(); ++i) {
    if (constant.control(i) == child)
      return rule.Fails("'{0}' waits for '{1}', which would read it\nremove the control edge",
                        constant.name(), child.name());
  }
  if (constant.num_controls() > 0 && WaitsFor(rule, constant, child)) {
    return rule.Fails(
        "'{0}' waits for a node that depends on '{1}'; unlike TensorFlow, which makes a cycle here "
        "and loses all of constant folding for the graph\nremove the control edge",
        constant.name(), child.name());
  }
  return true;
}

// False if the constant is known to be larger than the child's right leaf, with which it is to be
// combined: the child's result would grow.
bool FitsRightLeaf(Folding& rule, const Node& parent, const Tree& tree) {
  if (!rule.KnowsInputs(parent) || !rule.KnowsInputs(tree.child)) return true;
  Shape c = rule.InputShape(parent, tree.constant_is_left ? 0 : 1),
        leaf = rule.InputShape(tree.child, 1);
  if (!c.known_rank() || !leaf.known_rank()) return true;
  bool fits = true;
  if (c.IsFullyKnown() && leaf.IsFullyKnown() && *c.NumElements() > *leaf.NumElements()) {
    fits = false;
  } else {
    for (int i = 0; i < std::min(c.rank(), leaf.rank()); ++i)
      fits &= !leaf.IsKnown(i) || c.dim(i) <= leaf.dim(i);
  }
  return fits || rule.Fails(
                     "'{0}' is larger than '{1}', with which it would be combined\n"
                     "use constants of one shape",
                     rule.graph.node(tree.constant.node).name(), tree.child.input_node(1).name());
}

void SetBinary(Folding& rule, const Node& node, llvm::StringRef op, Port left, Port right) {
  if (node.op() != op) rule.edit.SetOp(node, op);
  rule.edit.SetInput(node, 0, left);
  rule.edit.SetInput(node, 1, right);
}

// Regroups a tree that contains Sub or Div: the child combines the constant and the leaf `y`, the
// parent the result and the leaf `x`. An operand counts as negated if the whole expression
// subtracts it, or divides by it; this decides which ops and operand orders are right.
void Reassociate(Folding& rule, const Node& parent, const Tree& tree, bool is_sum,
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
  SetBinary(rule, tree.child, negate_c != negate_y ? other : symmetric,
            negate_c ? y : tree.constant, negate_c ? tree.constant : y);
  bool subtract = negate_x || (negate_c && negate_y);
  SetBinary(rule, parent, subtract ? other : symmetric, negate_x ? tree.result : x,
            negate_x ? x : tree.result);
}

Verdict PushConstantsDown(Folding& rule, const Node& parent) {
  std::optional<Tree> tree = Match(rule, parent);
  if (!tree) return rule.NotMine();
  const Node& child = tree->child;
  auto is_sum = [](const Node& node) { return IsAdd(node) || node.op() == "Sub"; };
  auto is_product = [](const Node& node) { return node.op() == "Mul" || node.op() == "Div"; };
  bool sum = is_sum(parent) && is_sum(child);
  if (!sum && !(is_product(parent) && is_product(child))) return rule.NotMine();
  bool parent_symmetric = IsAdd(parent) || parent.op() == "Mul",
       child_symmetric = IsAdd(child) || child.op() == "Mul";
  DataType type = parent.GetType("T");
  if (!(parent_symmetric && child_symmetric) && !IsFloating(type) && !IsComplex(type))
    return rule.NotMine();
  bool has_constant_leaf = tree->left_leaf_is_constant || rule.IsConst(child.input(1));
  if (!IsSafe(rule, parent, *tree) || (!has_constant_leaf && !FitsRightLeaf(rule, parent, *tree)))
    return rule.Refused();
  rule.ForgetInputs(parent);
  rule.ForgetInputs(child);
  if (!parent_symmetric || !child_symmetric) {
    Reassociate(rule, parent, *tree, sum, parent_symmetric, child_symmetric);
    return rule.Done();
  }
  Port x = child.input(tree->left_leaf_is_constant ? 1 : 0),
       y = child.input(tree->left_leaf_is_constant ? 0 : 1);
  SetBinary(rule, child, child.op(), tree->constant, y);
  SetBinary(rule, parent, parent.op(), x, tree->result);
  return rule.Done();
}

Verdict PushConstantsDownBiasAdd(Folding& rule, const Node& parent) {
  bool parent_is_bias = IsBiasAdd(parent);
  std::optional<Tree> tree = Match(rule, parent);
  if (!tree || (tree->constant_is_left && parent_is_bias) || !rule.KnowsInputs(parent))
    return rule.NotMine();
  const Node& child = tree->child;
  bool child_is_bias = IsBiasAdd(child);
  if (!child_is_bias && !IsAdd(child)) return rule.NotMine();
  int constant_slot = tree->constant_is_left ? 0 : 1;
  Shape left = rule.InputShape(child, 0), right = rule.InputShape(child, 1),
        constant = rule.InputShape(parent, constant_slot),
        result = rule.InputShape(parent, 1 - constant_slot);
  if (!left.known_rank() || !right.known_rank() || !constant.known_rank() || !result.known_rank())
    return rule.NotMine();
  if (left.rank() != 1 && right.rank() != 1) return rule.NotMine();
  int vector = left.rank() == 1 ? 0 : 1, matrix = 1 - vector;
  int matrix_rank = vector == 0 ? right.rank() : left.rank();
  int leaf = -1;
  if (!parent_is_bias && child_is_bias && constant.rank() == matrix_rank) {
    leaf = matrix;
  } else if (constant.rank() == 1) {
    leaf = vector;
  }
  // If the leaf that would move up is constant itself, the child only exchanges one constant for
  // another.
  if (leaf < 0 || rule.IsConst(child.input(leaf))) return rule.NotMine();
  if (!IsSafe(rule, parent, *tree)) return rule.Refused();
  Port moved = child.input(leaf);
  rule.edit.SetInput(child, leaf, tree->constant);
  rule.edit.SetInput(parent, constant_slot, moved);
  rule.ForgetInputs(parent);
  rule.ForgetInputs(child);
  return rule.Done();
}

Verdict PushConstants(Folding& rule, const Node& parent) {
  Verdict verdict = PushConstantsDown(rule, parent);
  bool may_add_bias = IsBiasAdd(parent) || parent.op() == "Add" || parent.op() == "AddV2";
  return may_add_bias && !verdict.rewrote() ? PushConstantsDownBiasAdd(rule, parent) : verdict;
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kSimplify,
     .after = "reciprocal_of_constant",
     .name = "constant_push_down",
     .ops = {"Add", "AddV2", "Sub", "Mul", "Div", "BiasAdd", "BiasAddV1"},
     .help = "moves the constants of nested sums and products together",
     .refuses =
         "everything if nothing is fetched; inner nodes that others read, or that are fetched, fed "
         "or kept; half and bfloat16; integers, unless both are Add or both Mul; other devices; "
         "constants that would enlarge the inner result, or that wait for it",
     .pattern =
         "Add|AddV2(Const, Add|AddV2(Const)); Mul(Const, Mul(Const)); Add|AddV2(Const, BiasAdd)",
     .apply = PushConstants});

}  // namespace
}  // namespace grapnel::constant_folding
