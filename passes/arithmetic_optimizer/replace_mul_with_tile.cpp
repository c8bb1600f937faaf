// Replaces a multiplication by ones that only broadcasts the other tensor with a Tile of that
// tensor.
//
//   Before:  Mul(x:[1,3], ones:[2,3]) -> y     After:  Tile(x, [2,1]) -> y
//
// Refuses: nodes that are fetched, fed or kept; unknown shapes, and dimensions of size 0; a Const
// as the other tensor; ones of other dtypes than float or of another rank, or as the first input.
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kStage[] = "ReplaceMulWithBroadcastByTile";

// The number of repetitions of `from` along each dimension that makes `to`; nullopt if one exceeds
// an int32.
std::optional<std::vector<int64_t>> MultiplesOf(const Shape& from, const Shape& to) {
  std::vector<int64_t> multiples;
  for (int i = 0; i < to.rank(); ++i) {
    multiples.push_back(to.dim(i) == from.dim(i) ? 1 : to.dim(i));
    if (multiples.back() > std::numeric_limits<int32_t>::max()) return std::nullopt;
  }
  return multiples;
}

Verdict ReplaceMulWithTile(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  Node input = node.input_node(0), ones = node.input_node(1);
  if (input.op() == "Const") return rule.NotMine();
  const Literal* value = rule.ConstantOf(node.input(1));
  if (!value || value->dtype() != proto::DT_FLOAT || !value->AllEqualTo(1)) return rule.NotMine();
  if (rule.IsPreserved(node) || rule.IsPreserved(input) || rule.IsPreserved(ones)) {
    return rule.Refuse("'{0}', '{1}' or '{2}' is fetched, fed or kept\nundo this: {3}", node.name(),
                       input.name(), ones.name(),
                       rule.ObstaclesAt({input, ones, node}, Obstacles::kStays));
  }
  std::string tile_name = Arithmetic::NameFor(node, kStage, "Tile");
  std::string const_name = Arithmetic::NameFor(node, kStage, "Const");
  if (rule.Exists(tile_name) || rule.Exists(const_name)) return rule.NotMine();
  Shape from = rule.ShapeOfInput(node, 0), by = rule.ShapeOfInput(node, 1);
  std::optional<Shape> to = Broadcast(from, by);
  if (!to || from.rank() != to->rank() || by.rank() != to->rank() ||
      llvm::is_contained(from.dims(), 0)) {
    return rule.Refuse(
        "shapes {0} and {1} are not known, differ in rank or have no elements\n"
        "make the shapes of the inputs known, and of one rank",
        from.ToString(), by.ToString());
  }
  std::optional<std::vector<int64_t>> multiples = MultiplesOf(from, *to);
  if (*to == from || !multiples) return rule.NotMine();
  Node repeat = rule.MakeVector(const_name, *multiples, node.device());
  rule.ForwardControls(repeat, ones);
  rule.Enqueue(repeat);
  Node tile = rule.MakeTile(tile_name, node, node.input(0), repeat);
  rule.MarkStaleReader(tile, node.input(0));
  rule.ForwardControls(tile, node);
  return rule.ReplaceBy(tile);
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "replace_pack_with_tile_reshape",
              .name = "replace_mul_with_tile",
              .ops = {"Mul"},
              .help = "a multiplication by ones that only broadcasts x becomes Tile",
              .refuses = "nodes that are fetched, fed or kept; shapes that are unknown, differ in "
                         "rank or have no elements; a Const as the other tensor; ones of other "
                         "dtypes than float, or as the first input",
              .pattern = "(_, 1)",
              .apply = ReplaceMulWithTile});

}  // namespace
}  // namespace grapnel::arithmetic
