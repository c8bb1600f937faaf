// Powers that have an op of their own. The node changes in place and waits for the exponent.
//
//   Before:  Pow(x, 2)     After:  Square(x)       so 1: Identity, 0.5: Sqrt, -0.5: Rsqrt,
//                                                  -1: Reciprocal, 0: a constant of ones
//   Before:  Pow(x, 3)     After:  x * Square(x), the square as "..._ConvertPow__inner_<node>"; on
//   a
//                                  CPU only
//
// Refuses: exponents that are not constant or not all the same, and other ones; for 1 and 0, shapes
// that the exponent changes or that are not known.
#include "lib/ir/device_name.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "convert_pow";

// The value that all elements have; of a complex one the imaginary part must be 0.
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

void Cube(Arithmetic& arithmetic, const Node& node) {
  Node exponent = node.input_node(1);
  std::string name = Arithmetic::NameFor(node, "ConvertPow", "_inner");
  Node square = arithmetic.graph.Find(name);
  if (!square) {
    square = arithmetic.Make(name, "Square", node.device(), {node.input(0)});
    arithmetic.edit.CopyAttrs(square, node);
  }
  arithmetic.edit.SetOp(node, "Mul");
  arithmetic.edit.SetInput(node, 1, {square.id(), 0});
  arithmetic.edit.AddControl(node, exponent);
  arithmetic.Enqueue(node);
  arithmetic.Enqueue(square);
  arithmetic.Enqueue(exponent);
}

}  // namespace

Simplified ConvertPow(Arithmetic& arithmetic, const Node& node) {
  if (node.num_inputs() != 2) return std::nullopt;
  const Literal* value = arithmetic.ConstantOf(node.input(1));
  std::optional<double> exponent = value ? ExponentOf(*value) : std::nullopt;
  if (!exponent) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is not a constant of one value",
                           node.input_node(1).name());
    return std::nullopt;
  }
  const Shape shape = arithmetic.ShapeOf({node.id(), 0});
  bool keeps_shape = SameShape(arithmetic.ShapeOfInput(node, 0), shape);
  Node base = node.input_node(0), exponent_node = node.input_node(1);
  if (*exponent == 3) {
    if (IsOn(node.device(), "CPU")) {
      if (arithmetic.Begin(kRule, node)) Cube(arithmetic, node);
    } else {
      arithmetic.edit.Refuse(kRule, node, "'{0}' is on '{1}', a CPU was expected (see --device)",
                             node.name(), node.device());
    }
    return std::nullopt;
  }
  if ((*exponent == 1 || *exponent == 0) && !keeps_shape) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is not known to have the shape of '{1}'",
                           node.name(), base.name());
    return std::nullopt;
  }
  if (*exponent == 0) {
    DataType type = node.GetType("T");
    if (!shape.IsFullyKnown() || !HasOnes(type) || !arithmetic.Begin(kRule, node))
      return std::nullopt;
    llvm::SmallVector<Node, 4> controls = {arithmetic.Anchor(node.input(0)),
                                           arithmetic.Anchor(node.input(1))};
    for (int i = 0; i < node.num_controls(); ++i) controls.push_back(node.control(i));
    arithmetic.edit.TurnIntoConstant(node, Ones(type, shape), controls);
    arithmetic.Enqueue(node);
    arithmetic.Enqueue(base);
    arithmetic.Enqueue(exponent_node);
    return std::nullopt;
  }
  llvm::StringRef op = OpOf(*exponent);
  if (op.empty()) {
    arithmetic.edit.Refuse(kRule, node, "there is no op for the power {0}", *exponent);
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.SetOp(node, op);
  arithmetic.TurnIntoControl(node, 1);
  arithmetic.Enqueue(node);
  arithmetic.Enqueue(exponent_node);
  return std::nullopt;
}

}  // namespace grapnel::arithmetic
