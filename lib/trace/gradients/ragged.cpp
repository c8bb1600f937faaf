// Ragged tensors, given as row splits and flat values, of which only the values have a gradient;
// and ops that wrap tensors as one variant.
#include "lib/trace/array_ops.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// Returns `gradient` for input `place`, and no gradient for the inputs before it.
InputGradients OnlyFor(int place, const Gradient& gradient) {
  InputGradients gradients(place);
  gradients.push_back(gradient);
  return gradients;
}

GRAPNEL_GRADIENT("RaggedTensorToSparse", [](G& g) -> InputGradients {
  int last = g.num_inputs() - 1;
  return OnlyFor(last, g.Reshape(g.dy(1), g.ShapeOf(g.x(last))));
});

// The gradient consists of slices (IndexedSlices) of the flat values: those in the gathered rows.
InputGradients RaggedGatherOf(G& g) {
  int count = g.num_inputs() - 2;
  Value splits = g.x(0);
  for (int i = 1; i < count; ++i) splits = g.Gather(g.x(i), splits);
  Value rows = g.Reshape(g.x(count + 1), std::vector<int>{-1});
  Value begins = g.Gather(splits, rows);
  Value ends = g.Gather(g.Cut(splits, 1, G::kEnd), rows);
  Value step = Cast(g.Constant(1, proto::DT_INT32, "deltas"), splits.dtype());
  Operation places = g.Op("RaggedRange", {begins, ends, step}, {{"Tsplits", proto::DT_INT64}});
  Value shape = g.ShapeOf(g.x(count));
  return OnlyFor(count, Gradient(g.dy(g.num_outputs() - 1), places.output(1), shape));
}
GRAPNEL_GRADIENT("RaggedGather", RaggedGatherOf);

// --- To a dense tensor. The forward op, applied to the numbers of the values (0, 1, ...), shows
// which value each element of the result is; -1 marks elements with the default value.

// Returns the rank of the default value without its leading dimensions of size 1, which are
// broadcast.
Operand InnerRank(G& g, const Value& x) {
  Shape shape = x.shape();
  if (shape.known_rank()) {
    int rank = shape.rank();
    for (int i = 0; i < shape.rank() && shape.IsKnown(i); ++i) {
      if (shape.dim(i) != 1) return rank;
      --rank;
    }
    if (shape.IsFullyKnown()) return rank;
  }
  Value dims = g.ShapeOf(x);
  Value is_one = Cast(g.Op("Equal", {dims, 1}), proto::DT_INT32);
  Value leading = ReduceSum(g.Scoped("Cumprod", {is_one, 0}));
  return Rank(x) - leading;
}

InputGradients RaggedToTensorOf(G& g) {
  Value values = g.x(1), initial = g.x(2), dy = g.dy();
  if (!dy.shape().known_rank())
    return g.Fail("its gradient needs the rank of its result, which must be known while tracing");
  Value values_shape = g.ShapeOf(values);
  auto attr = g.node().FindAttr("row_partition_types");
  auto types = attr ? attr->AsStrings() : std::nullopt;
  if (!types) return g.Fail("it has no attribute row_partition_types");
  int64_t ragged_rank =
      llvm::count_if(*types, [](llvm::StringRef type) { return type != "FIRST_DIM_SIZE"; });
  Values partition;
  for (int i = 3; i < g.num_inputs(); ++i) partition.push_back(g.x(i));
  Value shape = g.Cut(g.ShapeOf(dy), 0, 1 + ragged_rank);
  Value numbers = g.Range(0, g.At(values_shape, 0));
  Value places = g.Op("RaggedTensorToTensor", {shape, numbers, -1, partition},
                      g.Attrs({"row_partition_types"}));
  Value has_value = g.Op("NotEqual", {places, -1});
  Value kept = BooleanMask(dy, has_value);
  Value indices = BooleanMask(places, has_value);
  Value rest = BooleanMask(dy, !has_value);
  Value rank = Rank(rest);
  Operand inner = InnerRank(g, initial);
  Value sum = ReduceSum(rest, g.Range(0, rank - inner));
  Value of_initial = g.Reshape(sum, g.ShapeOf(initial));
  return {Gradient(), Gradient(kept, indices, values_shape), of_initial};
}
GRAPNEL_GRADIENT("RaggedTensorToTensor", RaggedToTensorOf);

// --- As variants.

InputGradients RaggedFromVariantOf(G& g) {
  Shape shape = g.x(0).shape();
  if (shape.known_rank() && shape.rank() > 1)
    return g.Fail("its gradient is known only for a variant of rank 0 or 1");
  bool is_batched =
      shape.known_rank() ? shape.rank() == 1 : g.node().GetInt("output_ragged_rank") > 0;
  Values splits;
  for (int i = 0; i + 1 < g.num_outputs(); ++i) splits.push_back(g.y(i));
  return {g.Op("RaggedTensorToVariant", {splits, g.dy(g.num_outputs() - 1)},
               {{"batched_input", is_batched},
                {"RAGGED_RANK", g.num_outputs() - 1},
                {"Tsplits", g.node().GetType("Tsplits")}})};
}
GRAPNEL_GRADIENT("RaggedTensorFromVariant", RaggedFromVariantOf);

InputGradients RaggedToVariantOf(G& g) {
  int last = g.num_inputs() - 1;
  Value values = g.x(last);
  Operand splits = last == 0 ? Operand(0) : Operand(g.x(0));
  DataType type = last == 0 ? proto::DT_INT32 : g.x(0).dtype();
  return OnlyFor(last, g.Op("RaggedTensorToVariantGradient", {g.dy(), splits, g.ShapeOf(values)},
                            {{"Tvalues", values.dtype()}, {"Tsplits", type}}));
}
GRAPNEL_GRADIENT("RaggedTensorToVariant", RaggedToVariantOf);

InputGradients ComponentsOf(G& g) {
  Operation made =
      g.Op("CompositeTensorVariantToComponents", {g.dy()}, g.Attrs({"metadata", "Tcomponents"}));
  InputGradients gradients;
  for (int i = 0; i < g.num_inputs(); ++i) gradients.push_back(made.output(i));
  return gradients;
}
GRAPNEL_GRADIENT("CompositeTensorVariantFromComponents", ComponentsOf);
GRAPNEL_GRADIENT("CompositeTensorVariantToComponents", [](G& g) -> InputGradients {
  Values dys;
  for (int i = 0; i < g.num_outputs(); ++i) dys.push_back(g.dy(i));
  return {g.Op("CompositeTensorVariantFromComponents", {dys}, g.Attrs({"metadata"}))};
});

}  // namespace
}  // namespace grapnel
