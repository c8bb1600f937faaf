// Simplifies arithmetic with a constant that changes nothing, or only negates or inverts the other
// operand.
//
//   Before:  x, 0 -> AddV2 -> y                         (x - 0, x * 1, x / 1, BiasAdd alike)
//   After:   x -> Identity -> y, 0 -^-> Identity
//
//   Before:  x:[2], 0:[3,2] -> AddV2 -> y
//   After:   x, "ConstantFolding/AddV2-broadcastto_shape-0":Const [3,2] -> BroadcastTo -> y
//
//   Before:  0, x -> Sub -> y                           1, x -> RealDiv -> y
//   After:   x -> Neg -> y                              x -> Reciprocal -> y
//
// If some op writes to its input, Snapshot replaces Identity: an alias would see the write.
//
// Refuses: a result that is not known to have the shape of the other operand or, in full, that of
// the constant; FloorDiv; 1 / x on integers.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

enum class Kind { kAdd, kSub, kMul, kDiv };

Kind KindOf(llvm::StringRef op) {
  if (op == "Sub") return Kind::kSub;
  if (op == "Mul" || op == "MulNoNan" || op == "LogicalAnd") return Kind::kMul;
  if (op.ends_with("Div") || op == "Xdivy") return Kind::kDiv;
  return Kind::kAdd;
}

// The shape with which `bias` aligns with the channels of `value`: a BiasAdd broadcasts no other
// dimension.
Shape BiasShape(const Node& node, const Shape& bias, const Shape& value) {
  if (node.GetString("data_format") != "NCHW" || !value.known_rank() || value.rank() < 3 ||
      !bias.known_rank())
    return bias;
  Shape spread(llvm::SmallVector<int64_t, 6>(value.rank() - 1, 1));
  if (bias.rank() == 1) spread.set_dim(0, bias.dim(0));
  return spread;
}

// Replaces an op on input `x` and a neutral constant with that input. `meets` is the shape of that
// input as the op broadcasts it (for a bias: along the channels).
Verdict Forward(Folding& rule, const Node& node, int x, const Shape shapes[2], const Shape& meets) {
  const Shape output = rule.ShapeOf({node.id(), 0});
  if (Folding::SameShape(output, shapes[x]))
    return rule.BecomeIdentity(node, x, rule.mutates_tensors ? "Snapshot" : "Identity");
  bool is_constants = Folding::SameShape(output, shapes[1 - x]) && output.IsFullyKnown();
  if (!is_constants || !Folding::BroadcastsInto(meets, output, /*as_far_as_known=*/true)) {
    return rule.Refuse(
        "'{0}' is not known to have the shape of '{1}' or, in full, that of the constant\n"
        "make the shapes of the inputs known, or use a scalar constant",
        node.name(), node.input_node(x).name());
  }
  std::string name = Folding::NameFor(node, "-broadcastto_shape-" + llvm::Twine(x));
  if (rule.Exists(name)) return rule.Refuse("node '{0}' already exists\nrename it", name);
  return rule.BecomeBroadcast(node, x, output);
}

// Replaces 0 - x and 1 / x with `op` of x, which waits for the constant.
Verdict BecomeUnary(Folding& rule, const Node& node, llvm::StringRef op, const Shape shapes[2]) {
  if (!Folding::SameShape(rule.ShapeOf({node.id(), 0}), shapes[1])) {
    return rule.Refuse("'{0}' may change the shape of '{1}'\nuse a scalar constant",
                       node.input_node(0).name(), node.input_node(1).name());
  }
  return rule.Become(node, op, {node.input(1)});
}

Verdict SimplifyNeutralElements(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2 || !rule.KnowsInputs(node)) return rule.NotMine();
  Kind kind = KindOf(node.op());
  bool is_sum = kind == Kind::kAdd || kind == Kind::kSub;
  auto is_neutral = [&](int i) {
    return is_sum ? rule.IsZeros(node.input(i)) : rule.IsOnes(node.input(i));
  };
  bool x = is_neutral(0), y = is_neutral(1);
  if (!x && !y) return rule.NotMine();
  Shape shapes[2] = {rule.InputShape(node, 0), rule.InputShape(node, 1)};
  bool is_bias = node.op().contains("BiasAdd");
  Shape meets = is_bias ? BiasShape(node, shapes[1], shapes[0]) : shapes[1];
  if (x && (kind == Kind::kAdd || kind == Kind::kMul)) return Forward(rule, node, 1, shapes, meets);
  Verdict unary = rule.NotMine();
  if (x && kind == Kind::kSub) unary = BecomeUnary(rule, node, "Neg", shapes);
  if (x && kind == Kind::kDiv) {
    DataType type = rule.TypeOf(node);
    bool is_exact = IsFloating(type) || IsComplex(type);
    if (is_exact) unary = BecomeUnary(rule, node, "Reciprocal", shapes);
  }
  return y && !unary.rewrote() ? Forward(rule, node, 0, shapes, shapes[0]) : unary;
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_reshape",
              .name = "neutral_element",
              .ops = {"Add", "AddV2", "BiasAdd", "BiasAddV1", "LogicalOr", "Sub", "Mul", "MulNoNan",
                      "LogicalAnd", "Div", "RealDiv", "TruncateDiv", "Xdivy"},
              .help = "x + 0, x * 1 and the like become x, 0 - x becomes -x, 1 / x a Reciprocal",
              .refuses = "results that are not known to have the shape of the other operand or, in "
                         "full, that of the constant; 1 / x on integers",
              .apply = SimplifyNeutralElements});

}  // namespace
}  // namespace grapnel::constant_folding
