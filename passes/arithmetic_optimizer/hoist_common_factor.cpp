// Factors out what all terms of a sum are multiplied with, or divided by.
//
//   Before:  x * a + x * b                     After:  x * (a + b)
//   Before:  AddN(a / x, b / x, c / x)         After:  AddN(a, b, c) / x
//
// Only when arithmetic_optimization is AGGRESSIVE: rounding differs.
//
// Refuses: terms with no common factor, or more than one; unless the sum is an Add or AddV2, other
// factors whose shapes are not known to be equal; division of dtypes other than float and double (a
// division of one reference to a variable by another is excluded, too).
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kStage[] = "HoistCommonFactor";

bool IsFloat(DataType type) { return type == proto::DT_FLOAT || type == proto::DT_DOUBLE; }

// True if all terms are Mul nodes, or all are divisions.
bool HasTermsOfOneKind(Arithmetic& rule, const Node& sum) {
  bool divides = IsAnyDiv(sum.input_node(0));
  for (int i = 0; i < sum.num_inputs(); ++i) {
    Node term = rule.Input(sum, i);
    if (!term || (divides ? !IsAnyDiv(term) : term.op() != "Mul")) return false;
  }
  return true;
}

// True if every term, a division, has an operand of dtype float or double.
bool DividesFloats(Arithmetic& rule, const Node& sum) {
  for (int i = 0; i < sum.num_inputs(); ++i) {
    Node term = sum.input_node(i);
    if (!IsFloat(rule.edit.TypeOf(term.input(0))) && !IsFloat(rule.edit.TypeOf(term.input(1))))
      return false;
  }
  return true;
}

// The factors that all terms have in common; for quotients, the divisor.
std::vector<Port> CommonFactors(const Node& sum, bool divides) {
  std::vector<Port> common;
  for (int i = 0; i < sum.num_inputs(); ++i) {
    Node term = sum.input_node(i);
    std::vector<Port> factors = {term.input(1)};
    if (!divides) factors.push_back(term.input(0));
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

// The terms without the common factor; nothing, with a refusal, if their shapes may differ and the
// sum is not an Add or AddV2, which broadcast.
std::optional<std::vector<Port>> OtherFactors(Arithmetic& rule, const Node& sum, bool divides,
                                              Port common) {
  std::vector<Port> others;
  for (int i = 0; i < sum.num_inputs(); ++i) {
    Node term = sum.input_node(i);
    others.push_back(term.input(!divides && term.input(0) == common ? 1 : 0));
    if (i == 0 || IsAdd(sum) || SameShape(rule.ShapeOf(others[0]), rule.ShapeOf(others[i])))
      continue;
    rule.Refuse(
        "'{0}' and '{1}' are not known to have the same shape\n"
        "make the shapes of the inputs known, such as with --batch or --shape",
        rule.graph.node(others[0].node).name(), rule.graph.node(others[i].node).name());
    return std::nullopt;
  }
  return others;
}

Node Hoist(Arithmetic& rule, const Node& node, bool divides, Port common,
           llvm::ArrayRef<Port> others) {
  llvm::SmallVector<Node, 4> terms;
  for (int i = 0; i < node.num_inputs(); ++i) terms.push_back(node.input_node(i));
  for (const Node& term : terms) rule.edit.Used(term);
  Node sum = rule.Copy(Arithmetic::NameFor(node, kStage, "AddV2"), node);
  for (size_t i = 0; i < others.size(); ++i)
    rule.edit.SetInput(sum, static_cast<int>(i), others[i]);
  rule.ForwardControls(sum, terms);
  Node outer = rule.Copy(Arithmetic::NameFor(node, kStage, divides ? "Div" : "Mul"), terms[0]);
  rule.edit.SetDevice(outer, node.device());
  rule.edit.SetInput(outer, divides ? 1 : 0, common);
  rule.edit.SetInput(outer, divides ? 0 : 1, {sum.id(), 0});
  rule.Enqueue(sum);
  return outer;
}

Verdict HoistCommonFactor(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() < 2 || !rule.IsAggregate(node) ||
      rule.hoisted_factors.contains(node.id()) || !HasTermsOfOneKind(rule, node))
    return rule.NotMine();
  if (!rule.aggressive)
    return rule.Refuse(
        "arithmetic_optimization is not AGGRESSIVE\n"
        "set it, as in --rewriter-config 'arithmetic_optimization: AGGRESSIVE'");
  for (const char* part : {"Div", "Mul", "AddV2"}) {
    if (rule.Exists(Arithmetic::NameFor(node, kStage, part))) return rule.NotMine();
  }
  bool divides = IsAnyDiv(node.input_node(0));
  if (divides && !DividesFloats(rule, node))
    return rule.Refuse(
        "the terms divide {0}, float or double was expected\ncompute them in float or double",
        DataTypeName(rule.edit.TypeOf(node.input_node(0).input(0))));
  std::vector<Port> common = CommonFactors(node, divides);
  if (common.size() != 1)
    return rule.Refuse(
        "the terms have {0} factors in common that can be hoisted, one was expected\n"
        "let all terms multiply one tensor",
        common.size());
  std::optional<std::vector<Port>> others = OtherFactors(rule, node, divides, common[0]);
  if (!others) return rule.Refused();
  rule.hoisted_factors.insert(node.id());
  return rule.ReplaceBy(Hoist(rule, node, divides, common[0], *others));
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "fold_transpose_into_matmul",
     .name = "hoist_common_factor",
     .ops = {"Add", "AddV2", "AddN", "AccumulateNV2", "RiscAdd"},
     .help = "x * a + x * b becomes x * (a + b); only when AGGRESSIVE",
     .refuses =
         "terms without exactly one common factor; division of dtypes other than float and double; "
         "unless the sum is an Add or AddV2, other factors whose shapes are not known to be equal",
     .pattern = "(Mul(x, _), Mul(x, _))",
     .apply = HoistCommonFactor});

}  // namespace
}  // namespace grapnel::arithmetic
