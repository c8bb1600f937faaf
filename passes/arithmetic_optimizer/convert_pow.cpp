// Replaces powers that have an op of their own. The node changes in place and waits for the
// exponent.
//
//   Before:  Pow(x, 2)     After:  Square(x)       also 1: Identity, 0.5: Sqrt, -0.5: Rsqrt,
//                                                  -1: Reciprocal, 0: a constant of ones
//   Before:  Pow(x, 3)     After:  x * Square(x)   on a CPU only; the square is a new node,
//                                                  "..._ConvertPow__inner_<node>"
//
// Refuses: exponents that are not constant, not all equal, or of a dtype that TensorFlow does not
// handle here; other powers; for 3, nodes off the CPU; shapes that the exponent may change, for 1
// and 0 also unknown ones, for 0 also those not fully known; for 0 also half and bfloat16.
// TensorFlow tests the shape only for 1 and 0, and loses a broadcast by other exponents.
#include "lib/ir/device_name.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

// Returns the number that all elements are equal to; nullopt if there is none, if it is complex
// with an imaginary part other than 0, or for dtypes that TensorFlow does not handle here.
std::optional<double> ExponentOf(const Literal& value) {
  if (!IsNumeric(value.dtype()) || value.num_elements() == 0) return std::nullopt;
  if (IsComplex(value.dtype())) {
    double real = value.AsDouble(0);
    return value.AllEqualTo(real) ? std::optional(real) : std::nullopt;
  }
  switch (value.dtype()) {
    case proto::DT_BFLOAT16:
    case proto::DT_HALF:
    case proto::DT_INT32:
    case proto::DT_INT64:
    case proto::DT_FLOAT:
    case proto::DT_DOUBLE:
      break;
    default:
      return std::nullopt;
  }
  double exponent = value.AsDouble(0);
  return value.AllEqualTo(exponent) ? std::optional(exponent) : std::nullopt;
}

llvm::StringRef OpOf(double exponent) {
  if (exponent == 2) return "Square";
  if (exponent == 1) return "Identity";
  if (exponent == 0.5) return "Sqrt";
  if (exponent == -0.5) return "Rsqrt";
  if (exponent == -1) return "Reciprocal";
  return "";
}

bool HasOnes(DataType type) {
  switch (type) {
    case proto::DT_INT32:
    case proto::DT_INT64:
    case proto::DT_FLOAT:
    case proto::DT_DOUBLE:
    case proto::DT_COMPLEX64:
    case proto::DT_COMPLEX128:
      return true;
    default:
      return false;
  }
}

Literal Ones(DataType type, const Shape& shape) {
  Literal one = Literal::Scalar(type, 1);
  return Literal::Make(type, shape.dims(), one.bytes());
}

// True if no broadcast by the exponent can change the shape of `base`.
bool CannotBroadcast(const Literal& exponent, const Shape& base) {
  int rank = static_cast<int>(exponent.dims().size());
  return rank == 0 || (exponent.num_elements() == 1 && base.known_rank() && rank <= base.rank());
}

Verdict Cube(Arithmetic& rule, const Node& node) {
  if (!IsOn(rule.DeviceOf(node), "CPU")) {
    return rule.Refuse("'{0}' is on {1}, a CPU was expected (see --device)\nplace it on a CPU",
                       node.name(), QuotedDevice(node.device()));
  }
  Node exponent = node.input_node(1);
  std::string name = Arithmetic::NameFor(node, "ConvertPow", "_inner");
  Node square = rule.graph.Find(name);
  if (!square) {
    square = rule.Make(name, "Square", node.device(), node.input(0));
    rule.edit.CopyAttrs(square, node);
  }
  rule.edit.SetOp(node, "Mul");
  rule.edit.SetInput(node, 1, {square.id(), 0});
  rule.edit.AddControl(node, exponent);
  rule.Enqueue({node, square, exponent});
  return rule.Changed();
}

Verdict TurnIntoOnes(Arithmetic& rule, const Node& node) {
  DataType type = node.GetType("T");
  Shape shape = rule.ShapeOf({node.id(), 0});
  if (!shape.IsFullyKnown() || !HasOnes(type))
    return rule.Refuse(
        "the shape of '{0}' is not fully known, or TensorFlow makes no ones of {1}\n"
        "make the shape of its base known, in float, double, int32 or int64",
        node.name(), DataTypeName(type));
  Node base = node.input_node(0), exponent = node.input_node(1);
  llvm::SmallVector<Node, 4> controls = {rule.Anchor(node.input(0)), rule.Anchor(node.input(1))};
  for (int i = 0; i < node.num_controls(); ++i) controls.push_back(node.control(i));
  rule.edit.TurnIntoConstant(node, Ones(type, shape), controls);
  rule.Enqueue({node, base, exponent});
  return rule.Changed();
}

Verdict ConvertPow(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  Node base = node.input_node(0), exponent_node = node.input_node(1);
  const Literal* value = rule.ConstantOf(node.input(1));
  std::optional<double> exponent = value ? ExponentOf(*value) : std::nullopt;
  if (!exponent)
    return rule.Refuse(
        "'{0}' is not a real constant whose elements are all equal, or has a dtype that TensorFlow "
        "does not handle here\nuse one constant exponent",
        exponent_node.name());
  llvm::StringRef op = OpOf(*exponent);
  if (op.empty() && *exponent != 3 && *exponent != 0)
    return rule.Refuse(
        "there is no op for the power {0}\nuse the power 2, 3, 1, 0.5, 0, -0.5 or -1", *exponent);
  Shape base_shape = rule.ShapeOfInput(node, 0);
  bool keeps_shape = SameShape(base_shape, rule.ShapeOf({node.id(), 0}));
  if ((*exponent == 1 || *exponent == 0) && !keeps_shape)
    return rule.Refuse(
        "'{0}' is not known to have the shape of '{1}'\nuse a scalar exponent, and a known shape",
        node.name(), base.name());
  if (!keeps_shape && !CannotBroadcast(*value, base_shape))
    return rule.Refuse(
        "'{0}' is not known to have the shape of '{1}'; unlike TensorFlow, which loses the "
        "broadcast\nuse a scalar exponent",
        node.name(), base.name());
  if (*exponent == 3) return Cube(rule, node);
  if (*exponent == 0) return TurnIntoOnes(rule, node);
  rule.edit.SetOp(node, op);
  rule.TurnIntoControl(node, 1);
  rule.Enqueue({node, exponent_node});
  return rule.Changed();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "remove_idempotent",
              .name = "convert_pow",
              .ops = {"Pow"},
              .help = "powers of 2, 3, 1, 0.5, 0, -0.5 and -1 become cheaper ops",
              .refuses = "exponents that are not constant or not all equal; other powers; exponent "
                         "3 except on a CPU; exponents that may change the shape; exponent 0 "
                         "for half, bfloat16 and unknown shapes",
              .pattern = "(_, Const)",
              .apply = ConvertPow});

}  // namespace
}  // namespace grapnel::arithmetic
