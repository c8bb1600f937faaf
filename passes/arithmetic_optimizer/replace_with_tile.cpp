// Copies of a tensor along its dimensions are Tile.
//
//   Before:  Mul(x:[1,3], ones:[2,3]) -> y     After:  Tile(x, [2,1]) -> y
//   Before:  Pack(x:[2,3], x, axis=1) -> y     After:  Reshape(Tile(x, [1,2]), [2,2,3]) -> y
//
// A Pack of Packs becomes one Tile.
//
// Refuses: nodes that are fetched, fed or kept; shapes that are not known; ones of other dtypes
// than float or of another rank; Pack along a new last dimension.
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Literal Vector(llvm::ArrayRef<int64_t> values) {
  return Literal::Integers(proto::DT_INT32, {static_cast<int64_t>(values.size())}, values);
}

Node MakeTile(Arithmetic& arithmetic, const std::string& name, const Node& node, Port input,
              const Node& multiples) {
  Node tile = arithmetic.Make(name, "Tile", node.device(), {input, {multiples.id(), 0}});
  arithmetic.SetType(tile, "T", node.GetType("T"));
  arithmetic.SetType(tile, "Tmultiples", proto::DT_INT32);
  return tile;
}

// How often each dimension of the input is repeated by the Packs, the innermost last.
std::optional<std::vector<int64_t>> MultiplesOf(int rank, llvm::ArrayRef<Node> packs) {
  std::vector<int64_t> multiples(rank, 1);
  std::vector<int> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  for (const Node& pack : llvm::reverse(packs)) {
    int64_t axis = pack.GetInt("axis");
    // A new last dimension repeats elements, which no multiple of a dimension does.
    if (axis < 0 || axis >= static_cast<int64_t>(dims.size())) return std::nullopt;
    multiples[dims[axis]] *= pack.GetInt("N");
    if (multiples[dims[axis]] > std::numeric_limits<int32_t>::max()) return std::nullopt;
    dims.insert(dims.begin() + axis, dims[axis]);
  }
  return multiples;
}

bool HasEqualInputs(const Node& node) {
  for (int i = 1; i < node.num_inputs(); ++i) {
    if (node.input(i) != node.input(0)) return false;
  }
  return true;
}

}  // namespace

Simplified ReplaceMulWithTile(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "replace_mul_with_tile";
  constexpr char kStage[] = "ReplaceMulWithBroadcastByTile";
  Node input = arithmetic.Input(node, 0), ones = arithmetic.Input(node, 1);
  if (!input || !ones || input.op() == "Const") return std::nullopt;
  const Literal* value = arithmetic.ConstantOf(node.input(1));
  if (!value || value->dtype() != proto::DT_FLOAT || !value->AllEqualTo(1)) return std::nullopt;
  if (arithmetic.edit.IsPreserved(node) || arithmetic.edit.IsPreserved(input) ||
      arithmetic.edit.IsPreserved(ones)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}', '{1}' or '{2}' is fetched, fed or kept",
                           node.name(), input.name(), ones.name());
    return std::nullopt;
  }
  std::string tile_name = Arithmetic::NameFor(node, kStage, "Tile");
  std::string const_name = Arithmetic::NameFor(node, kStage, "Const");
  if (arithmetic.Exists(tile_name) || arithmetic.Exists(const_name)) return std::nullopt;
  const Shape from = arithmetic.ShapeOfInput(node, 0), by = arithmetic.ShapeOfInput(node, 1);
  std::optional<Shape> to = Broadcast(from, by);
  if (!to || from.rank() != to->rank() || by.rank() != to->rank() ||
      llvm::is_contained(from.dims(), 0)) {
    arithmetic.edit.Refuse(kRule, node, "shapes {0} and {1} are not known or not of one rank",
                           from.ToString(), by.ToString());
    return std::nullopt;
  }
  if (*to == from) return std::nullopt;
  std::vector<int64_t> multiples;
  multiples.reserve(to->rank());
  for (int i = 0; i < to->rank(); ++i)
    multiples.push_back(to->dim(i) == from.dim(i) ? 1 : to->dim(i));
  if (llvm::any_of(multiples, [](int64_t n) { return n > std::numeric_limits<int32_t>::max(); }) ||
      !arithmetic.Begin(kRule, node))
    return std::nullopt;
  Node repeat = arithmetic.edit.AddConstant(const_name, Vector(multiples), node.device());
  arithmetic.ForwardControls(repeat, ones);
  arithmetic.Enqueue(repeat);
  Node tile = MakeTile(arithmetic, tile_name, node, node.input(0), repeat);
  arithmetic.LoseTrack(tile, node.input(0));
  arithmetic.ForwardControls(tile, node);
  return By(tile);
}

Simplified ReplacePackWithTileReshape(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "replace_pack_with_tile_reshape";
  constexpr char kStage[] = "ReplacePackWithTileReshape";
  if (node.num_inputs() < 2 || !HasEqualInputs(node)) return std::nullopt;
  if (arithmetic.edit.IsPreserved(node)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", node.name());
    return std::nullopt;
  }
  llvm::SmallVector<Node, 4> packs = {node};
  while (packs.size() < arithmetic.graph.num_nodes()) {
    Node inner = packs.back().input_node(0);
    if (inner.op() != "Pack" || inner.num_inputs() == 0 || arithmetic.edit.IsPreserved(inner) ||
        !HasEqualInputs(inner))
      break;
    packs.push_back(inner);
  }
  std::string multiples_name = Arithmetic::NameFor(node, kStage, "Multiples"),
              tile_name = Arithmetic::NameFor(node, kStage, "Tile"),
              shape_name = Arithmetic::NameFor(node, kStage, "Shape"),
              reshape_name = Arithmetic::NameFor(node, kStage, "Reshape");
  for (const std::string& name : {multiples_name, tile_name, shape_name, reshape_name}) {
    if (arithmetic.Exists(name)) return std::nullopt;
  }
  Port input = packs.back().input(0);
  const Shape from = arithmetic.ShapeOf(input), to = arithmetic.ShapeOf({node.id(), 0});
  std::optional<std::vector<int64_t>> multiples;
  if (from.IsFullyKnown() && to.IsFullyKnown()) multiples = MultiplesOf(from.rank(), packs);
  if (!multiples) {
    arithmetic.edit.Refuse(kRule, node,
                           "the shape of '{0}' is not known, or the last dimension is "
                           "new",
                           arithmetic.graph.node(input.node).name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  for (const Node& pack : packs) arithmetic.edit.Used(pack);
  Node anchor = arithmetic.Anchor(input);
  Node repeat =
      arithmetic.edit.AddConstant(multiples_name, Vector(*multiples), node.device(), anchor);
  arithmetic.Enqueue(repeat);
  Node tile = MakeTile(arithmetic, tile_name, node, input, repeat);
  arithmetic.ForwardControls(tile, packs);
  arithmetic.Enqueue(tile);
  Node shape = arithmetic.edit.AddConstant(shape_name, Vector(to.dims()), node.device(), anchor);
  arithmetic.Enqueue(shape);
  Node reshape = arithmetic.Make(reshape_name, "Reshape", node.device(),
                                 {Port{tile.id(), 0}, Port{shape.id(), 0}});
  arithmetic.SetType(reshape, "T", node.GetType("T"));
  arithmetic.SetType(reshape, "Tshape", proto::DT_INT32);
  return By(reshape);
}

}  // namespace grapnel::arithmetic
