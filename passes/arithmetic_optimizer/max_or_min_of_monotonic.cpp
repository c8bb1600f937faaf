// Computes the maximum or minimum before a monotonic function, so that the function has fewer
// values to compute.
//
//   Before:  Max(Sqrt(x)) -> y     After:  Sqrt(Max(x)) -> y
//   Before:  Max(Neg(x)) -> y      After:  Neg(Min(x)) -> y
//   Before:  ArgMax(Exp(x)) -> y   After:  Identity(ArgMax(x)) -> y
//
// Refuses: nodes that are fetched, fed or kept; a function that other nodes read or wait for;
// MaxPool of a decreasing function, because there is no MinPool; Relu after BiasAdd or batch norm,
// which the remapper fuses.
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

// "ArgMax" -> "ArgMin", and back.
std::string OppositeOf(llvm::StringRef op) {
  std::string opposite = op.str();
  size_t at = opposite.find("Max");
  bool is_max = at != std::string::npos;
  return opposite.replace(is_max ? at : opposite.find("Min"), 3, is_max ? "Min" : "Max");
}

Verdict MaxOrMinOfMonotonic(Arithmetic& rule, const Node& node) {
  Node inner = rule.Input(node, 0);
  int direction = inner ? DirectionOf(inner.op()) : 0;
  if (!inner || inner.num_inputs() == 0) return rule.NotMine();
  if (direction == 0)
    return rule.NotMine("'{0}' ({1}) is not a monotonic function", inner.name(), inner.op());
  if (rule.IsPreserved(node) || rule.IsPreserved(inner) || rule.NumReaders(inner) != 1) {
    return rule.Refuse("'{0}' or '{1}' is fetched, fed, kept or read elsewhere\nundo this: {2}",
                       node.name(), inner.name(),
                       rule.ObstaclesAt({inner, node}, Obstacles::kStays | Obstacles::kReaders |
                                                           Obstacles::kControls));
  }
  if (direction < 0 && node.op().contains("Pool")) {
    return rule.Refuse("'{0}' is decreasing, and {1} has no opposite\nuse an increasing function",
                       inner.name(), node.op());
  }
  Node input = inner.input_node(0);
  if (IsFusableRelu(inner, input))
    return rule.Refuse("the remapper can fuse '{0}' with '{1}'", inner.name(), input.name());
  bool is_arg = node.op().starts_with("Arg");
  rule.ReportStaleReaders(node);
  rule.edit.SetInput(node, 0, inner.input(0));
  rule.edit.SetInput(inner, 0, {node.id(), 0});
  rule.UpdateReaders({node.id(), 0}, {inner.id(), 0});
  if (direction < 0) rule.edit.SetOp(node, OppositeOf(node.op()));
  if (is_arg) {
    rule.edit.SetOp(inner, "Identity");
    rule.SetType(inner, "T", node.GetType("output_type", proto::DT_INT64));
  }
  rule.Enqueue({node, inner, input});
  return rule.Changed();
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "convert_log_softmax",
     .name = "max_or_min_of_monotonic",
     .ops = {"Max", "Min", "ArgMax", "ArgMin", "MaxPool", "MaxPoolV2", "MaxPool3D",
             "MaxPoolWithArgmax", "FractionalMaxPool"},
     .help = "Max(Sqrt(x)) becomes Sqrt(Max(x)), and the like for other monotonic functions",
     .refuses = "nodes that are fetched, fed or kept; a function that other nodes read or wait "
                "for; pooling of a decreasing function; Relu that the remapper fuses",
     .apply = MaxOrMinOfMonotonic});

}  // namespace
}  // namespace grapnel::arithmetic
