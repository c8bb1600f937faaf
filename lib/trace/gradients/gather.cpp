// Gathers, scatters, partitions: rows and elements by their indices.
#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// The shape of x, computed on the device of x.
Value ShapeBeside(G& g, const Value& x) {
  auto beside = g.ColocatedWith(x);
  return g.ShapeOf(x);
}

InputGradients GatherOf(G& g) {
  Value shape = ShapeBeside(g, g.x(0));
  Value count = g.ExpandDims(g.Size(g.x(1)), 0);
  Value tail = g.Cut(shape, 1, G::kEnd);
  Value values_shape = g.Concat({count, tail}, 0);
  Value values = g.Reshape(g.dy(), values_shape);
  Value indices = g.Reshape(g.x(1), count);
  return {Gradient(values, indices, shape)};
}
GRAPNEL_GRADIENT("Gather", GatherOf);

// CutTo is Python's x[:end] for a vector, where `end` is a tensor; CutFrom is x[begin:].
Value CutTo(G& g, const Value& x, const Value& end) {
  Value zero = g.Constant(0, end.dtype());
  Value one = g.Constant(1, end.dtype());
  auto scope = g.Scope("strided_slice");
  Value from = g.Op("Pack", {Values{zero}}, {}, "stack");
  Value to = g.Op("Pack", {Values{end}}, {}, "stack");
  Value by = g.Op("Pack", {Values{one}}, {}, "stack");
  return g.Exact("StridedSlice", {x, from, to, by}, {{"begin_mask", 1}});
}
Value CutFrom(G& g, const Value& x, const Value& begin) {
  Value zero = g.Constant(0, begin.dtype());
  Value one = g.Constant(1, begin.dtype());
  auto scope = g.Scope("strided_slice");
  Value from = g.Op("Pack", {Values{begin}}, {}, "stack");
  Value to = g.Op("Pack", {Values{zero}}, {}, "stack");
  Value by = g.Op("Pack", {Values{one}}, {}, "stack");
  return g.Exact("StridedSlice", {x, from, to, by}, {{"end_mask", 1}});
}

// A vector of `times` ones.
Value TileOne(G& g, const Value& times) {
  auto scope = g.Scope("Tile");
  Value one = g.ConstantInts({1}, proto::DT_INT32, "input");
  return g.Exact("Tile", {one, g.Stack({times}, 0, "multiples")});
}

// Converts indices within each batch to indices into all batches joined to one.
Value BatchIndices(G& g, const Value& shape, const Value& indices, int64_t batch_dims) {
  Value all = indices;
  DataType dtype = indices.dtype();
  Value dims = Cast(shape, dtype);
  Value step_of_dim = g.Ones(llvm::ArrayRef<int64_t>(), dtype);
  for (int64_t dim = batch_dims; dim > 0; --dim) {
    Value size = g.At(dims, dim - 1);
    step_of_dim = step_of_dim * g.At(dims, dim);
    Value start = g.Zeros(llvm::ArrayRef<int64_t>(), dtype);
    Value step = g.Ones(llvm::ArrayRef<int64_t>(), dtype);
    Value along = g.Range(start, size, step);
    along = along * step_of_dim;
    Value front = g.Op("Tile", {std::vector<int>{1}, std::vector<int>{static_cast<int>(dim - 1)}});
    Value rest = Rank(indices) - static_cast<int>(dim);
    Value back = TileOne(g, rest);
    Value dim_shape = g.Concat({front, Values{size}, back}, 0);
    all = all + g.Reshape(along, dim_shape);
  }
  return all;
}

Value BatchGather(G& g, const Value& shape, Value values, Value indices, int64_t batch_dims,
                  Value rows) {
  Value count = g.ExpandDims(g.Size(indices), 0);
  Value outer, flat;
  if (batch_dims != 0) {
    Value values_shape = g.ShapeOf(values);
    outer = g.Cut(values_shape, 0, batch_dims);
    Value inner = g.Cut(g.Cut(values_shape, batch_dims, G::kEnd), 1, G::kEnd);
    Value batches = g.Op("Prod", {outer, std::vector<int>{0}}, {{"keep_dims", false}});
    flat = g.Concat({std::vector<int>{-1}, inner}, 0);
    rows = rows * batches;
    indices = BatchIndices(g, shape, indices, batch_dims);
    values = g.Reshape(values, flat);
  }
  indices = g.Reshape(indices, count);
  Value sum = g.Op("UnsortedSegmentSum", {values, indices, rows});
  if (batch_dims != 0) sum = g.Reshape(sum, g.Concat({outer, flat}, 0));
  return sum;
}

// For a gather along an axis other than the first, or one that is unknown while tracing: moves that
// axis behind the batch dimensions, sums, and moves the axis back.
InputGradients GatherAlong(G& g, const Value& shape, int64_t batch_dims) {
  Value x = g.x(0), axis = g.x(2);
  Value outer = CutTo(g, shape, axis);
  Value inner = g.Cut(CutFrom(g, shape, axis), 1, G::kEnd);
  Value values_shape = g.Concat({outer, std::vector<int>{-1}, inner}, 0);
  Value values_dims = g.Size(values_shape);
  Value axis_dims = g.Size(outer);
  Value batches = g.Range(0, static_cast<int>(batch_dims));
  Value before = g.Range(static_cast<int>(batch_dims), axis_dims);
  Value behind = g.Range(axis_dims + 1, values_dims);
  Value values = g.Reshape(g.dy(), values_shape);
  Value perm = g.Concat({batches, Values{axis_dims}, before, behind}, 0);
  Value moved = g.Transpose(values, perm);
  Value moved_shape = g.Gather(shape, perm);
  Value rows = g.At(shape, axis);
  Value sum = BatchGather(g, moved_shape, moved, g.x(1), batch_dims, rows);
  Value before_moved = before + 1;
  Value back =
      g.Concat({batches, before_moved, std::vector<int>{static_cast<int>(batch_dims)}, behind}, 0);
  Value gradient = g.Transpose(sum, back);
  return {g.Reshape(gradient, g.ShapeOf(x))};
}

InputGradients GatherV2Of(G& g) {
  Value shape = ShapeBeside(g, g.x(0));
  Value count = g.ExpandDims(g.Size(g.x(1)), 0);
  auto axis = g.IntegersOf(g.x(2));
  int64_t batch_dims = g.node().GetInt("batch_dims");
  if (batch_dims < 0) {
    Shape indices = g.x(1).shape();
    if (!indices.known_rank())
      return g.Fail(
          "its batch_dims is negative, so the rank of its indices must be known while tracing");
    batch_dims += indices.rank();
  }
  if (!axis || (*axis)[0] != 0) return GatherAlong(g, shape, batch_dims);
  Value tail = g.Cut(shape, 1, G::kEnd);
  Value values = g.Reshape(g.dy(), g.Concat({count, tail}, 0));
  return {Gradient(values, g.Reshape(g.x(1), count), shape)};
}
GRAPNEL_GRADIENT("GatherV2", GatherV2Of);

// Returns the gradient of GatherNd: slices if the indices are a matrix with one column, else a
// ScatterNd.
Gradient ScatterOf(G& g, const Value& shape, const std::vector<OpAttribute>& policy) {
  Shape indices = g.x(1).shape();
  if (indices.known_rank() && indices.rank() == 2 && indices.dim(1) == 1)
    return Gradient(g.dy(), g.Squeeze(g.x(1), {-1}), shape);
  return g.Op("ScatterNd", {g.x(1), g.dy(), shape}, policy);
}
GRAPNEL_GRADIENT("GatherNd", [](G& g) -> InputGradients {
  Value shape = g.ShapeOf(g.x(0), g.x(1).dtype());
  return {ScatterOf(g, shape, g.Attrs({"bad_indices_policy"}))};
});
// The shape of a variable's value.
Value VariableShape(G& g, const Value& handle) {
  Shape shape = ContentOf(handle);
  if (shape.IsFullyKnown()) return g.ConstantInts(shape.dims());
  return g.Op("VariableShape", {handle});
}

GRAPNEL_GRADIENT("ResourceGatherNd", [](G& g) -> InputGradients {
  Value shape = g.Op("VariableShape", {g.x(0)}, {{"out_type", g.x(1).dtype()}});
  return {ScatterOf(g, shape, g.Attrs({"bad_indices_policy"}))};
});

// The gradient of the variable consists of slices (IndexedSlices): the rows that were gathered.
GRAPNEL_GRADIENT("ResourceGather", [](G& g) -> InputGradients {
  Value shape = VariableShape(g, g.x(0));
  Value count = g.ExpandDims(g.Size(g.x(1)), 0);
  Value tail = g.Cut(shape, 1, G::kEnd);
  Value values = g.Reshape(g.dy(), g.Concat({count, tail}, 0));
  return {Gradient(values, g.Reshape(g.x(1), count), shape)};
});
GRAPNEL_GRADIENT("ReadVariableOp", [](G& g) -> InputGradients { return {g.gradient()}; });

// --- Scatters.

Value GatherNd(G& g, const Value& params, const Value& indices) {
  return g.Op("GatherNd", {params, indices});
}
GRAPNEL_GRADIENT("ScatterNd", [](G& g) -> InputGradients {
  return {Gradient(), GatherNd(g, g.dy(), g.x(0))};
});
GRAPNEL_GRADIENT("TensorScatterUpdate", [](G& g) -> InputGradients {
  Value updates = GatherNd(g, g.dy(), g.x(1));
  Value copy = Identity(g.dy());
  Value zeros = g.ZerosLike(g.x(2), g.dy().dtype());
  return {g.Op("TensorScatterUpdate", {copy, g.x(1), zeros}), Gradient(), updates};
});
GRAPNEL_GRADIENT("TensorScatterAdd", [](G& g) -> InputGradients {
  Value updates = GatherNd(g, g.dy(), g.x(1));
  return {Identity(g.dy()), Gradient(), updates};
});
GRAPNEL_GRADIENT("TensorScatterSub", [](G& g) -> InputGradients {
  Value updates = GatherNd(g, g.dy(), g.x(1));
  Value copy = Identity(g.dy());
  return {copy, Gradient(), -updates};
});
GRAPNEL_GRADIENT("ScatterNdNonAliasingAdd", [](G& g) -> InputGradients {
  return {g.dy(), Gradient(), GatherNd(g, g.dy(), g.x(1))};
});

InputGradients ScatterExtremeOf(G& g) {
  Value x = g.x(0), indices = g.x(1), updates = g.x(2), y = g.y();
  std::vector<OpAttribute> policy = g.Attrs({"bad_indices_policy"});
  Value is_x = Cast(g.Op("Equal", {x, y}), g.dy().dtype());
  Value gathered = g.Op("GatherNd", {y, indices}, policy);
  Value is_update = Cast(g.Op("Equal", {updates, gathered}), g.dy().dtype());
  Value shape = g.ShapeOf(x, indices.dtype());
  Value updated = g.Op("ScatterNd", {indices, is_update, shape}, policy);
  Value count = is_x + updated;
  Value scaled = g.dy() * is_x;
  Value gx = scaled / count;
  Value share = g.dy() / count;
  return {gx, Gradient(), g.Op("GatherNd", {share, indices}, policy) * is_update};
}
GRAPNEL_GRADIENT("TensorScatterMax", ScatterExtremeOf);
GRAPNEL_GRADIENT("TensorScatterMin", ScatterExtremeOf);

// --- Partitions.

InputGradients DynamicPartitionOf(G& g) {
  Value shape = g.ShapeOf(g.x(1));
  Value count = ReduceProd(shape);
  Value places = g.Reshape(g.Range(0, count), shape);
  Operation parts = g.Op("DynamicPartition", {places, g.x(1)}, g.Attrs({"num_partitions"}));
  Values indices, values;
  for (int i = 0; i < g.num_outputs(); ++i) {
    indices.push_back(parts.output(i));
    values.push_back(g.dy(i));
  }
  Value joined = g.Op("ParallelDynamicStitch", {indices, values});
  return {g.Reshape(joined, g.ShapeOf(g.x(0)))};
}
GRAPNEL_GRADIENT("DynamicPartition", DynamicPartitionOf);

InputGradients DynamicStitchOf(G& g) {
  int count = g.num_inputs() / 2;
  InputGradients gradients(count);
  Value dy;
  if (g.gradient().is_slices()) {
    const Gradient& gradient = g.gradient();
    Value rows = g.At(g.ShapeOf(g.y()), 0);
    dy = g.Op("UnsortedSegmentSum", {gradient.values, gradient.indices, rows});
  } else {
    dy = g.dy();
  }
  for (int i = 0; i < count; ++i) gradients.push_back(g.Gather(dy, g.x(i)));
  return gradients;
}
GRAPNEL_GRADIENT("DynamicStitch", DynamicStitchOf);
GRAPNEL_GRADIENT("ParallelDynamicStitch", DynamicStitchOf);

}  // namespace
}  // namespace grapnel
