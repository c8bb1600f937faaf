// Upsamples rows and columns by Tile with four dimensions instead of six: Tile is slow on many
// dimensions.
//
//   Before:  Reshape(Tile(Reshape(x, [b,h,1,w,1,c]), [p,q,r,1,s,1]), t)
//   After:   Reshape(Tile(Reshape(x, [b,h,w,c]), [p,q,r,s]), t)
//
// Refuses: other forms of shape and multiples, or ones that are not constant int32; nodes that are
// fetched, fed or kept; a Tile that is read elsewhere.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kStage[] = "ReduceUpsamplingDims";

// Returns the four elements at `places` of an int32 constant of six elements, if its other two
// elements, at `ones`, are 1; otherwise nullopt.
std::optional<std::vector<int64_t>> Reduced(Arithmetic& rule, Port port, llvm::ArrayRef<int> places,
                                            llvm::ArrayRef<int> ones) {
  const Literal* value = rule.ConstantOf(port);
  if (!value || value->dtype() != proto::DT_INT32 || value->num_elements() != 6)
    return std::nullopt;
  for (int i : ones) {
    if (value->AsInt(i) != 1) return std::nullopt;
  }
  std::vector<int64_t> kept;
  for (int i : places) kept.push_back(value->AsInt(i));
  return kept;
}

// Makes a Reshape to four dimensions and a Tile that reads it; returns the Tile.
Node MakeTileOfReshape(Arithmetic& rule, const Node& node, llvm::ArrayRef<int64_t> multiples,
                       llvm::ArrayRef<int64_t> dims) {
  Node tile = node.input_node(0), reshape = tile.input_node(0);
  Node old_multiples = tile.input_node(1), old_shape = reshape.input_node(1);
  auto name = [&](const char* part) { return Arithmetic::NameFor(node, kStage, part); };
  Node new_multiples = rule.MakeVector(name("Multiples"), multiples, old_multiples.device());
  Node new_shape = rule.MakeVector(name("Shape"), dims, old_shape.device());
  Node new_reshape = rule.Make(name("Reshape"), "Reshape", reshape.device(),
                               {reshape.input(0), {new_shape.id(), 0}});
  rule.SetType(new_reshape, "T", reshape.GetType("T"));
  rule.SetType(new_reshape, "Tshape", reshape.GetType("Tshape"));
  Node new_tile = rule.Make(name("Tile"), "Tile", tile.device(),
                            {{new_reshape.id(), 0}, {new_multiples.id(), 0}});
  rule.SetType(new_tile, "T", tile.GetType("T"));
  rule.SetType(new_tile, "Tmultiples", tile.GetType("Tmultiples"));
  rule.Enqueue({new_reshape, new_tile});
  rule.ForwardControls(new_tile, tile);
  rule.ForwardControls(new_multiples, old_multiples);
  rule.ForwardControls(new_reshape, reshape);
  rule.ForwardControls(new_shape, old_shape);
  return new_tile;
}

Verdict ReduceUpsamplingDims(Arithmetic& rule, const Node& node) {
  Node tile = rule.Input(node, 0);
  if (!tile || tile.op() != "Tile" || tile.num_inputs() != 2) return rule.NotMine();
  Node reshape = tile.input_node(0);
  if (reshape.op() != "Reshape" || reshape.num_inputs() != 2) return rule.NotMine();
  auto multiples = Reduced(rule, tile.input(1), {0, 1, 2, 4}, {3, 5});
  auto dims = Reduced(rule, reshape.input(1), {0, 1, 3, 5}, {2, 4});
  if (!multiples || !dims)
    return rule.NotMine(
        "the multiples of '{0}' and the shape of '{1}' are not constants of six dimensions that "
        "repeat rows and columns",
        tile.name(), reshape.name());
  if (rule.IsPreserved(node) || rule.IsPreserved(tile) || rule.IsPreserved(reshape) ||
      tile.NumDataUses() != 1) {
    return rule.Refuse(
        "'{0}', '{1}' or '{2}' is fetched, fed, kept or read elsewhere\nundo this: {3}",
        node.name(), tile.name(), reshape.name(),
        rule.ObstaclesAt({reshape, tile, node}, Obstacles::kStays | Obstacles::kReaders));
  }
  for (const char* part : {"Reshape", "Tile", "Multiples", "Shape"}) {
    if (rule.Exists(Arithmetic::NameFor(node, kStage, part))) return rule.NotMine();
  }
  rule.edit.Used(tile);
  rule.edit.Used(reshape);
  Node made = MakeTileOfReshape(rule, node, *multiples, *dims);
  rule.edit.SetInput(node, 0, {made.id(), 0});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "replace_mul_with_tile",
              .name = "reduce_upsampling_dims",
              .ops = {"Reshape"},
              .help = "upsamples by Tile with four dimensions instead of six",
              .refuses = "nodes that are fetched, fed or kept; a Tile that is read elsewhere; "
                         "other forms of shape and multiples",
              .pattern = "(Tile(Reshape(_, Const), Const))",
              .apply = ReduceUpsamplingDims});

}  // namespace
}  // namespace grapnel::arithmetic
