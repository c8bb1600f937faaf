// What all terms of a sum are multiplied with, or divided by, is taken out of it.
//
//   Before:  x * a + x * b                     After:  x * (a + b)
//   Before:  AddN(a / x, b / x, c / x)         After:  AddN(a, b, c) / x
//
// Only when arithmetic_optimization is AGGRESSIVE: rounding differs.
//
// Refuses: terms that have no factor, or more than one, in common; for AddN, other factors whose
// shapes are not known to be the same; division of anything but float and double (references to
// variables among it).
#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "hoist_common_factor";
constexpr char kStage[] = "HoistCommonFactor";

bool IsFloat(DataType type) { return type == proto::DT_FLOAT || type == proto::DT_DOUBLE; }

// The factors that all terms have in common; of quotients, the divisor.
std::vector<Port> CommonFactors(Arithmetic& arithmetic, const Node& node, bool divides) {
  std::vector<Port> common;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Node term = node.input_node(i);
    std::vector<Port> factors = {term.input(1)};
    if (!divides) factors.push_back(term.input(0));
    if (divides && !IsFloat(arithmetic.edit.TypeOf(term.input(0))) &&
        !IsFloat(arithmetic.edit.TypeOf(term.input(1))))
      return {};
    if (i == 0) {
      common = factors;
    } else {
      llvm::erase_if(common, [&](Port port) { return !llvm::is_contained(factors, port); });
    }
  }
  llvm::sort(common);
  common.erase(std::unique(common.begin(), common.end()), common.end());
  return common;
}

}  // namespace

Simplified HoistCommonFactor(Arithmetic& arithmetic, const Node& node) {
  if (node.num_inputs() < 2 || !arithmetic.IsAggregate(node) ||
      arithmetic.hoisted_factors.contains(node.id()))
    return std::nullopt;
  bool divides = IsAnyDiv(node.input_node(0));
  for (int i = 0; i < node.num_inputs(); ++i) {
    Node term = node.input_node(i);
    if (divides ? !IsAnyDiv(term) : term.op() != "Mul") return std::nullopt;
  }
  if (!arithmetic.aggressive) {
    arithmetic.edit.Refuse(kRule, node, "arithmetic_optimization is not AGGRESSIVE");
    return std::nullopt;
  }
  std::string outer_name = Arithmetic::NameFor(node, kStage, divides ? "Div" : "Mul");
  std::string sum_name = Arithmetic::NameFor(node, kStage, "AddV2");
  if (arithmetic.Exists(Arithmetic::NameFor(node, kStage, "Div")) ||
      arithmetic.Exists(Arithmetic::NameFor(node, kStage, "Mul")) || arithmetic.Exists(sum_name))
    return std::nullopt;
  std::vector<Port> common = CommonFactors(arithmetic, node, divides);
  if (common.size() != 1) {
    arithmetic.edit.Refuse(kRule, node, "its terms have {0} factors in common", common.size());
    return std::nullopt;
  }
  std::vector<Port> others;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Node term = node.input_node(i);
    others.push_back(term.input(!divides && term.input(0) == common[0] ? 1 : 0));
    bool matches = i == 0 || IsAdd(node) ||
                   SameShape(arithmetic.ShapeOf(others[0]), arithmetic.ShapeOf(others[i]));
    if (matches) continue;
    arithmetic.edit.Refuse(kRule, node, "'{0}' and '{1}' are not known to have the same shape",
                           arithmetic.graph.node(others[0].node).name(),
                           arithmetic.graph.node(others[i].node).name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.hoisted_factors.insert(node.id());
  llvm::SmallVector<Node, 4> terms;
  for (int i = 0; i < node.num_inputs(); ++i) terms.push_back(node.input_node(i));
  for (const Node& term : terms) arithmetic.edit.Used(term);
  Node sum = arithmetic.Copy(sum_name, node);
  for (size_t i = 0; i < others.size(); ++i)
    arithmetic.edit.SetInput(sum, static_cast<int>(i), others[i]);
  arithmetic.ForwardControls(sum, terms);
  Node outer = arithmetic.Copy(outer_name, terms[0]);
  arithmetic.edit.SetDevice(outer, node.device());
  arithmetic.edit.SetInput(outer, divides ? 1 : 0, common[0]);
  arithmetic.edit.SetInput(outer, divides ? 0 : 1, {sum.id(), 0});
  arithmetic.Enqueue(sum);
  return By(outer);
}

}  // namespace grapnel::arithmetic
