// Replaces the ratio of two sizes with a constant if the unknown dimensions cancel.
//
//   Before:  Size(a), Size(b) -> Div d -> y            After:  Const d(^Size(a), ^Size(b)) -> y
//            where a:[s1,6] and b:[s1,3]                       of the value 2
//
// Refuses: sizes whose unknown dimensions do not cancel; a divisor with a dimension of size 0.
#include "lib/ir/shape.h"
#include "lib/pass/rule.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The number of elements of `a` divided by that of `b`, rounded down, if symbols cancel; nullopt if
// the ratio is unknown.
std::optional<int64_t> RatioOfSizes(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank()) return std::nullopt;
  llvm::SmallVector<int64_t, 4> symbols, known;
  for (int64_t dim : a.dims()) {
    if (dim == kUnknownDim) return std::nullopt;
    (dim < 0 ? symbols : known).push_back(dim);
  }
  llvm::SmallVector<int64_t, 4> known_of_b;
  for (int64_t dim : b.dims()) {
    if (dim == kUnknownDim || dim == 0) return std::nullopt;
    if (dim > 0) {
      known_of_b.push_back(dim);
      continue;
    }
    auto* same = llvm::find(symbols, dim);
    if (same == symbols.end()) return std::nullopt;
    symbols.erase(same);
  }
  if (!symbols.empty()) return std::nullopt;
  auto size_of_a = NumElements(known), size_of_b = NumElements(known_of_b);
  if (!size_of_a || !size_of_b) return std::nullopt;
  return *size_of_a / *size_of_b;
}

Verdict RatioToConstant(RuleContext& rule, const Node& div) {
  if (div.num_inputs() != 2) return rule.NotMine();
  DataType type = div.GetType("T");
  if (type != proto::DT_INT32 && type != proto::DT_INT64) return rule.NotMine();
  Node above = rule.Input(div, 0), below = rule.Input(div, 1);
  if (!above || !below || above.op() != "Size" || below.op() != "Size") return rule.NotMine();
  if (above.num_inputs() != 1 || below.num_inputs() != 1) return rule.NotMine();
  Shape a = rule.ShapeOf(above.input(0)), b = rule.ShapeOf(below.input(0));
  std::optional<int64_t> ratio = RatioOfSizes(a, b);
  if (!ratio)
    return rule.Refuse(
        "the sizes of the shapes {0} and {1} have no known ratio\n"
        "make the shapes of the inputs known",
        a.ToString(), b.ToString());
  llvm::SmallVector<Node, 4> controls = {above};
  if (below != above) controls.push_back(below);
  for (int i = 0; i < div.num_controls(); ++i) {
    if (!llvm::is_contained(controls, div.control(i))) controls.push_back(div.control(i));
  }
  rule.edit.TurnIntoConstant(div, Literal::Integers(type, {}, {*ratio}), controls);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "shape_optimizer",
     .after = "product_of_shape_to_size",
     .name = "ratio_of_sizes",
     .ops = {"Div"},
     .help = "the ratio of two sizes becomes a constant if unknown dimensions cancel",
     .refuses =
         "sizes whose unknown dimensions do not cancel; a divisor with a dimension of size 0",
     .pattern = "(Size, Size)",
     .apply = RatioToConstant});

}  // namespace
}  // namespace grapnel
