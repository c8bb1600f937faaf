// Replaces a stack of copies of one tensor with Tile, which repeats it along a dimension; a stack
// of such stacks repeats along several.
//
//   Before:  Pack(x:[2,3], x, axis=1) -> y     After:  Reshape(Tile(x, [1,2]), [2,2,3]) -> y
//
// Refuses: nodes that are fetched, fed or kept; unknown shapes; Pack along a new last dimension, or
// with a negative axis.
#include <limits>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kStage[] = "ReplacePackWithTileReshape";

bool HasEqualInputs(const Node& node) {
  for (int i = 1; i < node.num_inputs(); ++i) {
    if (node.input(i) != node.input(0)) return false;
  }
  return true;
}

// `node`, followed by the nested stacks of one tensor that it consists of, the innermost last.
llvm::SmallVector<Node, 4> PacksFrom(Arithmetic& rule, const Node& node) {
  llvm::SmallVector<Node, 4> packs = {node};
  while (packs.size() < rule.graph.num_nodes()) {
    Node inner = packs.back().input_node(0);
    if (inner.op() != "Pack" || inner.num_inputs() == 0 || rule.IsPreserved(inner) ||
        !HasEqualInputs(inner))
      break;
    packs.push_back(inner);
  }
  return packs;
}

// The number of repetitions of each dimension of the input, which has this rank; nullopt if an axis
// is negative or a new last dimension, or a number exceeds an int32.
std::optional<std::vector<int64_t>> MultiplesOf(int rank, llvm::ArrayRef<Node> packs) {
  std::vector<int64_t> multiples(rank, 1);
  std::vector<int> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  for (const Node& pack : llvm::reverse(packs)) {
    int64_t axis = pack.GetInt("axis");
    // A stack along a new last dimension repeats each element in place, which Tile cannot do.
    if (axis < 0 || axis >= static_cast<int64_t>(dims.size())) return std::nullopt;
    multiples[dims[axis]] *= pack.GetInt("N");
    if (multiples[dims[axis]] > std::numeric_limits<int32_t>::max()) return std::nullopt;
    dims.insert(dims.begin() + axis, dims[axis]);
  }
  return multiples;
}

// Makes a Tile of the stacked tensor and a Reshape that reads it; returns the Reshape.
Node MakeReshapeOfTile(Arithmetic& rule, const Node& node, llvm::ArrayRef<Node> packs,
                       llvm::ArrayRef<int64_t> multiples, const Shape& to) {
  auto name = [&](const char* part) { return Arithmetic::NameFor(node, kStage, part); };
  for (const Node& pack : packs) rule.edit.Used(pack);
  Port input = packs.back().input(0);
  Node anchor = rule.Anchor(input);
  Node repeat = rule.MakeVector(name("Multiples"), multiples, node.device(), anchor);
  Node tile = rule.MakeTile(name("Tile"), node, input, repeat);
  rule.ForwardControls(tile, packs);
  Node shape = rule.MakeVector(name("Shape"), to.dims(), node.device(), anchor);
  rule.Enqueue({repeat, tile, shape});
  Node reshape =
      rule.Make(name("Reshape"), "Reshape", node.device(), {{tile.id(), 0}, {shape.id(), 0}});
  rule.SetType(reshape, "T", node.GetType("T"));
  rule.SetType(reshape, "Tshape", proto::DT_INT32);
  return reshape;
}

Verdict ReplacePackWithTileReshape(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() < 2 || !HasEqualInputs(node)) return rule.NotMine();
  if (rule.IsPreserved(node))
    return rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  for (const char* part : {"Multiples", "Tile", "Shape", "Reshape"}) {
    if (rule.Exists(Arithmetic::NameFor(node, kStage, part))) return rule.NotMine();
  }
  llvm::SmallVector<Node, 4> packs = PacksFrom(rule, node);
  Port input = packs.back().input(0);
  Shape from = rule.ShapeOf(input), to = rule.ShapeOf({node.id(), 0});
  std::optional<std::vector<int64_t>> multiples;
  if (from.IsFullyKnown() && to.IsFullyKnown()) multiples = MultiplesOf(from.rank(), packs);
  if (!multiples) {
    return rule.Refuse(
        "the shape of '{0}' is not known, or a Pack of it has a negative axis or adds a new last "
        "dimension\nmake its shape known, and stack along another dimension",
        rule.graph.node(input.node).name());
  }
  return rule.ReplaceBy(MakeReshapeOfTile(rule, node, packs, *multiples, to));
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "remove_redundant_cast",
              .name = "replace_pack_with_tile_reshape",
              .ops = {"Pack"},
              .help = "stacking the same tensor becomes Tile and Reshape",
              .refuses = "nodes that are fetched, fed or kept; unknown shapes; a Pack with a "
                         "negative axis or along a new last dimension",
              .pattern = "(x, x)",
              .apply = ReplacePackWithTileReshape});

}  // namespace
}  // namespace grapnel::arithmetic
