// The largest of values of a monotonic function is its value at the largest: fewer values to
// compute.
//
//   Before:  Max(Sqrt(x)) -> y     After:  Sqrt(Max(x)) -> y
//   Before:  Max(Neg(x)) -> y      After:  Neg(Min(x)) -> y
//   Before:  ArgMax(Exp(x)) -> y   After:  Identity(ArgMax(x)) -> y
//
// Refuses: nodes that are fetched, fed, kept or read elsewhere; MaxPool of a decreasing function,
// for there is no MinPool; Relu after BiasAdd or batch norm, of which the remapper makes one op.
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

int DirectionOf(llvm::StringRef op) {
  return llvm::StringSwitch<int>(op)
      .Cases("Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", 1)
      .Cases("Elu", "Erf", "Exp", "Expm1", "Floor", "Log", 1)
      .Cases("Log1p", "Relu", "Relu6", "Rint", "Selu", "Sigmoid", 1)
      .Cases("Sign", "Sinh", "Softsign", "Softplus", "Sqrt", "Tanh", 1)
      .Cases("Acos", "Erfc", "Neg", "Rsqrt", -1)
      .Default(0);
}

}  // namespace

Simplified OptimizeMaxOrMinOfMonotonic(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "max_or_min_of_monotonic";
  Node inner = arithmetic.Input(node, 0);
  int direction = inner ? DirectionOf(inner.op()) : 0;
  if (direction == 0 || inner.num_inputs() == 0) return std::nullopt;
  bool is_pool = node.op().contains("Pool"), is_arg = node.op().starts_with("Arg");
  if (arithmetic.edit.IsPreserved(node) || arithmetic.edit.IsPreserved(inner) ||
      arithmetic.NumReaders(inner) != 1) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' or '{1}' is fetched, fed, kept or read elsewhere",
                           node.name(), inner.name());
    return std::nullopt;
  }
  if (direction < 0 && is_pool) {
    arithmetic.edit.Refuse(kRule, node,
                           "'{0}' falls where its input rises, and {1} has no opposite",
                           inner.name(), node.op());
    return std::nullopt;
  }
  if (IsFusableRelu(inner, inner.input_node(0))) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' can be fused with '{1}'", inner.name(),
                           inner.input_node(0).name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  Node input = inner.input_node(0);
  arithmetic.edit.SetInput(node, 0, inner.input(0));
  arithmetic.edit.SetInput(inner, 0, {node.id(), 0});
  arithmetic.UpdateReaders({node.id(), 0}, {inner.id(), 0});
  if (direction < 0) {
    std::string op = node.op().str();
    size_t at = op.find("Max");
    bool is_max = at != std::string::npos;
    op.replace(is_max ? at : op.find("Min"), 3, is_max ? "Min" : "Max");
    arithmetic.edit.SetOp(node, op);
  }
  if (is_arg) {
    arithmetic.edit.SetOp(inner, "Identity");
    arithmetic.SetType(inner, "T", node.GetType("output_type", proto::DT_INT64));
  }
  arithmetic.Enqueue(node);
  arithmetic.Enqueue(inner);
  arithmetic.Enqueue(input);
  return std::nullopt;
}

}  // namespace grapnel::arithmetic
