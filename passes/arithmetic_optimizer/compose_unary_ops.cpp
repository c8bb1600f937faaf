// A chain of elementwise ops becomes one op that processes the elements once.
//
//   Before:  Relu(Log(Sqrt(x))) -> y
//   After:   _UnaryOpsComposition(x) {op_names=[Sqrt, Log, Relu]} -> y
//
// The new node is "<last op's node>/unary_ops_composition".
//
// Refuses: nodes whose device, or assumed device (--device), is not a CPU; ops, or dtypes, that the
// composed op does not support; nodes that are fetched, fed, kept or have control edges, and inner
// nodes that are read elsewhere; a body through which a gradient is taken.
#include <algorithm>

#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool IsComposable(const Node& node) {
  enum { kNo, kNoHalf, kAny };
  int known = llvm::StringSwitch<int>(node.op())
                  .Cases("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", kNoHalf)
                  .Cases("Cosh", "Rint", "Sinh", "Tan", kNoHalf)
                  .Cases("Abs", "Ceil", "Cos", "Expm1", "Exp", "Floor", kAny)
                  .Cases("Inv", "Log", "Log1p", "Neg", "Reciprocal", "Round", kAny)
                  .Cases("Rsqrt", "Sigmoid", "Sin", "Sqrt", "Square", "Tanh", kAny)
                  .Cases("Elu", "Relu", "Relu6", "Selu", kAny)
                  .Default(kNo);
  DataType type = node.GetType("T");
  if (type == proto::DT_HALF) return known == kAny;
  return known != kNo && (type == proto::DT_FLOAT || type == proto::DT_DOUBLE);
}

bool CanTake(Arithmetic& rule, const Node& node) {
  return IsComposable(node) && !rule.IsPreserved(node) && IsOn(rule.DeviceOf(node), "CPU") &&
         !rule.composed.contains(node.id()) && node.num_controls() == 0 &&
         !rule.DrivesControls(node);
}

Verdict ComposeUnaryOps(Arithmetic& rule, const Node& node) {
  Node input = rule.Input(node, 0);
  if (!input || !IsComposable(node) || !IsComposable(input)) return rule.NotMine();
  std::string name = (node.name() + "/unary_ops_composition").str();
  if (rule.Exists(name) || rule.composed.contains(node.id())) return rule.NotMine();
  DataType type = node.GetType("T");
  auto follows = [&](const Node& next) {
    return next.GetType("T") == type && rule.NumValueReaders(next) == 1 && CanTake(rule, next);
  };
  if (!CanTake(rule, node) || !follows(input)) {
    return rule.Refuse(
        "'{0}' or '{1}' is not known to be on a CPU (see --device), is fetched, fed or kept, has "
        "control edges or is already composed, or '{1}' has other readers\nundo this: {2}",
        node.name(), input.name(),
        rule.ObstaclesAt({node, input}, Obstacles::kStays | Obstacles::kReaders |
                                            Obstacles::kControls | Obstacles::kDevice));
  }
  if (rule.edit.boundary().differentiable) {
    return rule.Refuse(
        "a gradient is taken through '{0}', and the composed op has none\n"
        "use a function through which no gradient is taken",
        node.name());
  }
  std::vector<Node> chain = {node};
  Node tail = rule.TailOfChain(node, [&](const Node& next) {
    bool is_mine = follows(next);
    if (is_mine) chain.push_back(next);
    return is_mine;
  });
  std::vector<llvm::StringRef> ops;
  for (const Node& link : llvm::reverse(chain)) {
    rule.composed.insert(link.id());
    rule.edit.Used(link);
    ops.push_back(link.op());
  }
  Node made = rule.Make(name, "_UnaryOpsComposition", node.device(), tail.input(0));
  rule.SetType(made, "T", type);
  rule.edit.SetAttr(made, "op_names", attr::Strings(ops));
  return rule.ReplaceBy(made);
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "convert_expm1",
     .name = "compose_unary_ops",
     .ops = {"Abs",  "Acos",   "Acosh", "Asin", "Asinh",      "Atan", "Atanh", "Ceil",
             "Cos",  "Cosh",   "Expm1", "Exp",  "Floor",      "Inv",  "Log",   "Log1p",
             "Neg",  "Rint",   "Round", "Sin",  "Reciprocal", "Sinh", "Rsqrt", "Sigmoid",
             "Sqrt", "Square", "Tan",   "Tanh", "Elu",        "Relu", "Relu6", "Selu"},
     .help = "a chain of elementwise ops on a CPU becomes one _UnaryOpsComposition",
     .refuses = "nodes that are not known to be on a CPU; nodes that are fetched, fed or kept, or "
                "have control edges; inner nodes with other readers; dtypes other than half, float "
                "and double; a body through which a gradient is taken",
     .apply = ComposeUnaryOps});

}  // namespace
}  // namespace grapnel::arithmetic
