// Upsampling of rows and columns by Tile, with four dimensions in place of six: Tile is slow on
// many.
//
//   Before:  Reshape(Tile(Reshape(x, [b,h,1,w,1,c]), [p,q,r,1,s,1]), t)
//   After:   Reshape(Tile(Reshape(x, [b,h,w,c]), [p,q,r,s]), t)
//
// Refuses: other forms of shape and multiples, or ones that are not constant int32; inner nodes
// that are fetched, fed, kept or read elsewhere.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

// The four of six elements at `places` when the elements at `ones` are 1.
std::optional<Literal> Reduced(Arithmetic& arithmetic, Port port, llvm::ArrayRef<int> places,
                               llvm::ArrayRef<int> ones) {
  const Literal* value = arithmetic.ConstantOf(port);
  if (!value || value->dtype() != proto::DT_INT32 || value->num_elements() != 6)
    return std::nullopt;
  for (int i : ones) {
    if (value->AsInt(i) != 1) return std::nullopt;
  }
  std::vector<int64_t> kept;
  for (int i : places) kept.push_back(value->AsInt(i));
  return Literal::Integers(proto::DT_INT32, {4}, kept);
}

}  // namespace

Simplified ReduceUpsamplingDims(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "reduce_upsampling_dims";
  constexpr char kStage[] = "ReduceUpsamplingDims";
  Node tile = arithmetic.Input(node, 0);
  if (!tile || tile.op() != "Tile" || tile.num_inputs() != 2) return std::nullopt;
  Node reshape = tile.input_node(0);
  if (reshape.op() != "Reshape" || reshape.num_inputs() != 2) return std::nullopt;
  std::optional<Literal> multiples = Reduced(arithmetic, tile.input(1), {0, 1, 2, 4}, {3, 5});
  std::optional<Literal> dims = Reduced(arithmetic, reshape.input(1), {0, 1, 3, 5}, {2, 4});
  if (!multiples || !dims) return std::nullopt;
  if (arithmetic.edit.IsPreserved(node) || arithmetic.edit.IsPreserved(tile) ||
      arithmetic.edit.IsPreserved(reshape) || tile.NumDataUses() != 1) {
    arithmetic.edit.Refuse(kRule, node,
                           "'{0}', '{1}' or '{2}' is fetched, fed, kept or read elsewhere",
                           node.name(), tile.name(), reshape.name());
    return std::nullopt;
  }
  std::string reshape_name = Arithmetic::NameFor(node, kStage, "Reshape"),
              tile_name = Arithmetic::NameFor(node, kStage, "Tile"),
              multiples_name = Arithmetic::NameFor(node, kStage, "Multiples"),
              shape_name = Arithmetic::NameFor(node, kStage, "Shape");
  for (const std::string& name : {reshape_name, tile_name, multiples_name, shape_name}) {
    if (arithmetic.Exists(name)) return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(tile);
  arithmetic.edit.Used(reshape);
  Node old_multiples = tile.input_node(1), old_shape = reshape.input_node(1);
  Node new_multiples =
      arithmetic.edit.AddConstant(multiples_name, *multiples, old_multiples.device());
  Node new_shape = arithmetic.edit.AddConstant(shape_name, *dims, old_shape.device());
  Node new_reshape = arithmetic.Make(reshape_name, "Reshape", reshape.device(),
                                     {reshape.input(0), Port{new_shape.id(), 0}});
  arithmetic.SetType(new_reshape, "T", reshape.GetType("T"));
  arithmetic.SetType(new_reshape, "Tshape", reshape.GetType("Tshape"));
  arithmetic.Enqueue(new_reshape);
  Node new_tile = arithmetic.Make(tile_name, "Tile", tile.device(),
                                  {Port{new_reshape.id(), 0}, Port{new_multiples.id(), 0}});
  arithmetic.SetType(new_tile, "T", tile.GetType("T"));
  arithmetic.SetType(new_tile, "Tmultiples", tile.GetType("Tmultiples"));
  arithmetic.Enqueue(new_tile);
  arithmetic.edit.SetInput(node, 0, {new_tile.id(), 0});
  arithmetic.ForwardControls(new_tile, tile);
  arithmetic.ForwardControls(new_multiples, old_multiples);
  arithmetic.ForwardControls(new_reshape, reshape);
  arithmetic.ForwardControls(new_shape, old_shape);
  return InPlace(node);
}

}  // namespace grapnel::arithmetic
