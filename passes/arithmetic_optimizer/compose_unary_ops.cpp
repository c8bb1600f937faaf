// Elementwise ops in a row become one op that goes over the elements once.
//
//   Before:  Relu(Log(Sqrt(x))) -> y     After:  _UnaryOpsComposition(x) {op_names=[Sqrt, Log,
//   Relu]}
//
// The new node is "<last op's node>/unary_ops_composition".
//
// Refuses: nodes without a CPU of their own; ops, or dtypes, that the composed op does not know;
// nodes that are fetched, fed, kept or have control edges, and inner ones that are read elsewhere;
// a body through which a gradient is taken.
#include <algorithm>

#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "compose_unary_ops";

bool IsComposable(const Node& node, DataType type) {
  enum { kNo, kNoHalf, kAny };
  int known = llvm::StringSwitch<int>(node.op())
                  .Cases("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", kNoHalf)
                  .Cases("Cosh", "Rint", "Sinh", "Tan", kNoHalf)
                  .Cases("Abs", "Ceil", "Cos", "Expm1", "Exp", "Floor", kAny)
                  .Cases("Inv", "Log", "Log1p", "Neg", "Reciprocal", "Round", kAny)
                  .Cases("Rsqrt", "Sigmoid", "Sin", "Sqrt", "Square", "Tanh", kAny)
                  .Cases("Elu", "Relu", "Relu6", "Selu", kAny)
                  .Default(kNo);
  if (type == proto::DT_HALF) return known == kAny;
  return known != kNo && (type == proto::DT_FLOAT || type == proto::DT_DOUBLE);
}

bool CanTake(Arithmetic& arithmetic, const Node& node) {
  return IsComposable(node, node.GetType("T")) && !arithmetic.edit.IsPreserved(node) &&
         IsOn(node.device(), "CPU") && !arithmetic.composed.contains(node.id()) &&
         !arithmetic.HasControls(node) && !arithmetic.DrivesControls(node);
}

}  // namespace

Simplified ComposeUnaryOps(Arithmetic& arithmetic, const Node& node) {
  DataType type = node.GetType("T");
  Node input = arithmetic.Input(node, 0);
  if (!input || !IsComposable(node, type) || !IsComposable(input, input.GetType("T")))
    return std::nullopt;
  std::string name = (node.name() + "/unary_ops_composition").str();
  if (arithmetic.Exists(name) || arithmetic.composed.contains(node.id())) return std::nullopt;
  auto follows = [&](const Node& next) {
    return next.GetType("T") == type && arithmetic.NumValueReaders(next) == 1 &&
           CanTake(arithmetic, next);
  };
  if (!CanTake(arithmetic, node) || !follows(input)) {
    arithmetic.edit.Refuse(kRule, node,
                           "'{0}' or '{1}' has no CPU of its own, is fetched, fed, kept or read "
                           "elsewhere, or has control edges",
                           node.name(), input.name());
    return std::nullopt;
  }
  if (arithmetic.edit.boundary().differentiable) {
    arithmetic.edit.Refuse(kRule, node,
                           "a gradient is taken through '{0}', and the composed op has none",
                           node.name());
    return std::nullopt;
  }
  std::vector<Node> chain = {node};
  Node tail = arithmetic.TailOfChain(node, [&](const Node& next) {
    bool is_mine = follows(next);
    if (is_mine) chain.push_back(next);
    return is_mine;
  });
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  std::reverse(chain.begin(), chain.end());
  std::vector<llvm::StringRef> ops;
  for (const Node& link : chain) {
    arithmetic.composed.insert(link.id());
    arithmetic.edit.Used(link);
    ops.push_back(link.op());
  }
  Node made = arithmetic.Make(name, "_UnaryOpsComposition", node.device(), {tail.input(0)});
  arithmetic.SetType(made, "T", type);
  arithmetic.edit.SetAttr(made, "op_names", attr::Strings(ops));
  return By(made);
}

}  // namespace grapnel::arithmetic
