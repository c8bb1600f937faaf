// Shape functions of ops that access by index: gather, scatter, segments, one-hot, unique, sets,
// and the dense inputs and outputs of sparse ops.
#include <algorithm>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// Returns params[:axis] + indices[batch_dims:] + params[axis + 1:], where each part is a slice of a
// shape.
Shape Gathered(ShapeContext& c, const Shape& params, const Shape& indices,
               std::optional<int64_t> axis, int64_t batch_dims) {
  if (!params.known_rank() || !indices.known_rank()) return Shape::Unknown();
  if (batch_dims < 0) batch_dims += indices.rank();
  if (params.rank() < 1 || batch_dims < 0 || batch_dims > indices.rank() ||
      batch_dims >= params.rank()) {
    c.Fail("{0} of {1} with indices of shape {2} has no axis to read along", c.op(),
           params.ToString(), indices.ToString());
    return Shape::Unknown();
  }
  if (!axis)
    return Shape::UnknownOfRank(static_cast<int>(params.rank() + indices.rank() - 1 - batch_dims));
  std::optional<int> at = c.Axis(*axis, params.rank());
  if (!at) return Shape::Unknown();
  Shape head = SubShape(params, 0, *at);
  for (int i = 0; i < std::min<int>(batch_dims, head.rank()); ++i) {
    head.set_dim(i, MergeDims(head.dim(i), indices.dim(i)).value_or(head.dim(i)));
  }
  return ConcatShapes(ConcatShapes(head, SubShape(indices, static_cast<int>(batch_dims))),
                      SubShape(params, *at + 1));
}

void GatherElements(ShapeContext& c) {
  const Elements *params = c.elements(0), *indices = c.integers(1);
  if (!params || !indices || c.in(0).rank() != 1) return;
  Elements result;
  for (int64_t index : *indices) {
    if (index < 0 || index >= static_cast<int64_t>(params->size())) return;
    result.push_back((*params)[index]);
  }
  c.OutElements(0, std::move(result));
}

void GatherShape(ShapeContext& c) {
  c.Out(0, Gathered(c, c.in(0), c.in(1), 0, 0));
  GatherElements(c);
}

void GatherV2Shape(ShapeContext& c) {
  int64_t batch_dims = c.Int("batch_dims");
  std::optional<int64_t> axis = c.integer(2);
  // The axis of a gather from a vector is 0 even if the axis input is unknown.
  if (!axis && c.in(0).known_rank() && c.in(0).rank() == 1) axis = 0;
  c.Out(0, Gathered(c, c.in(0), c.in(1), axis, batch_dims));
  if (batch_dims == 0) GatherElements(c);
}

void ResourceGatherShape(ShapeContext& c) {
  const Shape* content = c.facts(0).content();
  int64_t batch_dims = c.Int("batch_dims");
  if (content) c.Out(0, Gathered(c, *content, c.in(1), batch_dims, batch_dims));
}

Shape GatheredNd(ShapeContext& c, const Shape& params, const Shape& indices) {
  if (!params.known_rank() || !indices.known_rank() || indices.rank() == 0) return Shape::Unknown();
  int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return Shape::Unknown();
  if (depth > params.rank()) {
    c.Fail("{0} has indices of {1} components, too many for a tensor of shape {2}", c.op(), depth,
           params.ToString());
    return Shape::Unknown();
  }
  return ConcatShapes(SubShape(indices, 0, -1), SubShape(params, static_cast<int>(depth)));
}

void GatherNdShape(ShapeContext& c) { c.Out(0, GatheredNd(c, c.in(0), c.in(1))); }
void ResourceGatherNdShape(ShapeContext& c) {
  if (const Shape* content = c.facts(0).content()) c.Out(0, GatheredNd(c, *content, c.in(1)));
}

void ScatterNdShape(ShapeContext& c) { c.Out(0, c.ShapeFrom(2)); }

void OneHotShape(ShapeContext& c) {
  const Shape& indices = c.in(0);
  if (!indices.known_rank()) return;
  int64_t axis = c.Int("axis", -1);
  if (axis < 0 || axis > indices.rank()) axis = indices.rank();
  Dims dims(indices.dims().begin(), indices.dims().end());
  dims.insert(dims.begin() + axis, c.SizeFrom(1));
  c.Out(0, Shape(dims));
}

// Rows of `data` with the same id are combined; the highest id determines the number of output rows
// and is unknown.
void SegmentShape(ShapeContext& c) {
  c.WithRank(1, 1);
  c.Out(0, ConcatShapes(VectorOf(kUnknownDim), SubShape(c.WithRankAtLeast(0, 1), 1)));
}

void SegmentV2Shape(ShapeContext& c) {
  const Shape &data = c.in(0), &ids = c.in(1);
  if (!data.known_rank() || !ids.known_rank()) return;
  if (ids.rank() > data.rank())
    return c.Fail("{0} needs ids of no higher rank than the data, got shapes {1} and {2}", c.op(),
                  ids.ToString(), data.ToString());
  for (int i = 0; i < ids.rank(); ++i) c.Equal(data.dim(i), ids.dim(i), "sizes of data and ids");
  Shape rows = VectorOf(c.SizeFrom(c.num_inputs() - 1));
  c.Out(0, ConcatShapes(rows, SubShape(data, ids.rank())));
}

void SparseSegmentShape(ShapeContext& c) {
  c.Equal(c.WithRank(1, 1).dim(0), c.WithRank(2, 1).dim(0), "indices and segment ids");
  Shape rows = VectorOf(c.SizeFrom(3));  // ops without num_segments have no input 3
  c.Out(0, ConcatShapes(rows, SubShape(c.WithRankAtLeast(0, 1), 1)));
}

// In version 1 of the op, an input specifies the number of rows. Version 2 returns only the rows
// that were used, and their number is unknown.
void SparseSegmentGradShape(ShapeContext& c) {
  c.Equal(c.WithRank(1, 1).dim(0), c.WithRank(2, 1).dim(0), "indices and segment ids");
  Shape rows = VectorOf(c.num_outputs() == 2 ? kUnknownDim : c.SizeFrom(3));
  c.Out(0, ConcatShapes(rows, SubShape(c.WithRankAtLeast(0, 1), 1)));
  c.Out(1, VectorOf(kUnknownDim));
}

void UniqueShape(ShapeContext& c) {
  Shape x = c.WithRank(0, 1);
  c.Out(0, VectorOf(kUnknownDim));
  c.Out(1, std::move(x));
  c.Out(2, VectorOf(kUnknownDim));
}

// Finds unique values along an axis; if the axis input is empty, among all elements of a vector.
void UniqueV2Shape(ShapeContext& c) {
  c.Out(2, VectorOf(kUnknownDim));
  const Shape &x = c.in(0), &axes = c.in(1);
  c.Out(1, VectorOf(kUnknownDim));
  if (axes.known_rank() && axes.rank() == 1 && axes.dim(0) == 0) {
    Shape vector = c.WithRank(0, 1);
    c.Out(0, VectorOf(kUnknownDim));
    return c.Out(1, std::move(vector));
  }
  const Elements* axis = c.integers(1);
  if (!x.known_rank()) return;
  if (!axis || axis->size() != 1) return c.Out(0, Shape::UnknownOfRank(x.rank()));
  std::optional<int> at = c.Axis((*axis)[0], x.rank());
  if (!at) return;
  Shape rows = x;
  rows.set_dim(*at, kUnknownDim);
  c.Out(0, std::move(rows));
  c.Out(1, VectorOf(x.dim(*at)));
}

void WhereShape(ShapeContext& c) {
  c.Out(0, MatrixOf(kUnknownDim, c.in(0).known_rank() ? c.in(0).rank() : kUnknownDim));
}

void DynamicPartitionShape(ShapeContext& c) {
  const Shape &data = c.in(0), &partitions = c.in(1);
  if (!data.known_rank() || !partitions.known_rank()) return;
  if (partitions.rank() > data.rank()) {
    return c.Fail("{0} needs partitions of no higher rank than the data, got shapes {1} and {2}",
                  c.op(), partitions.ToString(), data.ToString());
  }
  for (int i = 0; i < partitions.rank(); ++i) {
    c.Equal(data.dim(i), partitions.dim(i), "sizes of data and partitions");
  }
  Shape part = ConcatShapes(VectorOf(kUnknownDim), SubShape(data, partitions.rank()));
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, part);
}

// If the indices are constants, the highest one determines the number of rows.
void DynamicStitchShape(ShapeContext& c) {
  int parts = c.num_inputs() / 2;
  Shape rest = Shape::Unknown();
  int64_t rows = 0;
  for (int i = 0; i < parts; ++i) {
    if (c.in(i).known_rank() && c.in(parts + i).known_rank()) {
      rest = c.Equal(rest, SubShape(c.in(parts + i), c.in(i).rank()));
    }
    const Elements* indices = c.integers(i);
    if (!indices) rows = kUnknownDim;
    for (int64_t index : indices&& rows >= 0 ? *indices : Elements())
      rows = std::max(rows, AddDims(index, 1));
  }
  c.Out(0, ConcatShapes(VectorOf(rows), rest));
}

void ListDiffShape(ShapeContext& c) {
  c.WithRank(0, 1);
  c.WithRank(1, 1);
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, VectorOf(kUnknownDim));
  // Computes the elements, but leaves the output's shape unknown, as TensorFlow does: it uses the
  // elements only if a reader takes the output as a shape.
  const Elements *from = c.integers(0), *without = c.integers(1);
  if (!from || !without) return;
  Elements kept, places;
  for (size_t i = 0; i < from->size(); ++i) {
    if (llvm::is_contained(*without, (*from)[i])) continue;
    kept.push_back((*from)[i]);
    places.push_back(static_cast<int64_t>(i));
  }
  c.OutElements(0, std::move(kept));
  c.OutElements(1, std::move(places));
}

void UnravelIndexShape(ShapeContext& c) {
  const Shape &indices = c.in(0), &dims = c.in(1);
  if (!indices.known_rank() || !dims.known_rank() || dims.rank() != 1) return;
  c.Out(0, indices.rank() == 0 ? VectorOf(dims.dim(0))
                               : MatrixOf(dims.dim(0), ProductOf(indices.dims())));
}

void SecondShape(ShapeContext& c) { c.Out(0, c.in(1)); }

void BincountShape(ShapeContext& c) { c.Out(0, VectorOf(c.SizeFrom(1))); }

void DenseBincountShape(ShapeContext& c) {
  const Shape& in = c.in(0);
  if (!in.known_rank()) return;
  if (in.rank() > 2) return c.Fail("{0} needs at most rank 2, got {1}", c.op(), in.ToString());
  int64_t bins = c.SizeFrom(1);
  c.Out(0, in.rank() == 2 ? MatrixOf(in.dim(0), bins) : VectorOf(bins));
}

void RaggedBincountShape(ShapeContext& c) {
  int64_t splits = c.WithRank(0, 1).dim(0);
  c.Out(0, MatrixOf(SubDims(splits, 1), c.SizeFrom(2)));
}

void HistogramShape(ShapeContext& c) { c.Out(0, VectorOf(c.SizeFrom(2))); }

// Sets outputs `first` to first + 2 to the indices, values and shape of a sparse tensor of `rank`
// (which may be unknown).
void OutSparse(ShapeContext& c, int first, int64_t rank) {
  c.Out(first, MatrixOf(kUnknownDim, rank));
  c.Out(first + 1, VectorOf(kUnknownDim));
  c.Out(first + 2, VectorOf(rank));
}

void SetOperationShape(ShapeContext& c) {
  // Two dense sets have the same rank; for a sparse set, the length of its shape vector is the
  // rank.
  int64_t rank = kUnknownDim;
  if (c.op() == "DenseToDenseSetOperation") {
    for (int i = 0; i < 2; ++i) {
      if (c.in(i).known_rank()) rank = c.in(i).rank();
    }
  } else {
    const Shape& sparse = c.in(c.num_inputs() - 1);
    if (sparse.known_rank() && sparse.rank() == 1) rank = sparse.dim(0);
    if (c.op() == "DenseToSparseSetOperation" && c.in(0).known_rank()) rank = c.in(0).rank();
  }
  OutSparse(c, 0, rank);
}

void SetSizeShape(ShapeContext& c) {
  Shape set = c.ShapeFrom(2);
  if (set.known_rank() && set.rank() > 0) c.Out(0, SubShape(set, 0, -1));
}

void SparseToDenseShape(ShapeContext& c) { c.Out(0, c.ShapeFrom(1)); }

void SparseDenseMatMulShape(ShapeContext& c) {
  Shape sparse = c.ShapeFrom(2), dense = c.WithRank(3, 2);
  if (!sparse.known_rank()) sparse = Shape::UnknownOfRank(2);
  if (sparse.rank() != 2)
    return c.Fail("{0} needs a sparse matrix, got a sparse tensor of shape {1}", c.op(),
                  sparse.ToString());
  int a = c.Bool("adjoint_a") ? 1 : 0, b = c.Bool("adjoint_b") ? 0 : 1;
  c.Equal(sparse.dim(1 - a), dense.dim(1 - b), "inner sizes");
  c.Out(0, MatrixOf(sparse.dim(a), dense.dim(b)));
}

void SparseReorderShape(ShapeContext& c) {
  c.Out(0, c.WithRank(0, 2));
  c.Out(1, c.WithRank(1, 1));
}

void SparseReshapeShape(ShapeContext& c) {
  Shape indices = c.WithRank(0, 2), to = c.WithRank(2, 1);
  c.Out(0, MatrixOf(indices.dim(0), to.dim(0)));
  c.Out(1, std::move(to));
}

void SparseFillEmptyRowsShape(ShapeContext& c) {
  Shape indices = c.WithRank(0, 2), shape = c.ShapeFrom(2);
  c.Out(0, MatrixOf(kUnknownDim, indices.dim(1)));
  c.Out(1, VectorOf(kUnknownDim));
  c.Out(2, VectorOf(shape.known_rank() && shape.rank() > 0 ? shape.dim(0) : kUnknownDim));
  c.Out(3, VectorOf(c.Equal(indices.dim(0), c.WithRank(1, 1).dim(0), "indices and values")));
}

void SparseFillEmptyRowsGradShape(ShapeContext& c) {
  c.WithRank(1, 1);
  c.Out(0, VectorOf(c.WithRank(0, 1).dim(0)));
  c.Out(1, Shape::Scalar());
}

void SparseValuesShape(ShapeContext& c) { c.Out(0, VectorOf(c.WithRank(0, 2).dim(0))); }

// The output has the shape of the values, input 1. Like TensorFlow, does not use the number of rows
// of the indices, input 0, although it is the same.
void LikeValuesShape(ShapeContext& c) {
  c.WithRank(0, 2);
  c.Out(0, c.WithRank(1, 1));
}

void SparseConcatShape(ShapeContext& c) {
  int parts = c.num_inputs() / 3;
  int64_t rank = kUnknownDim, rows = 0;
  for (int i = 0; i < parts; ++i) {
    Shape indices = c.WithRank(i, 2);
    rank = c.Equal(rank, indices.dim(1), "ranks");
    rows = rows == kUnknownDim || indices.dim(0) == kUnknownDim ? kUnknownDim
                                                                : AddDims(rows, indices.dim(0));
  }
  c.Out(0, MatrixOf(rows, rank));
  c.Out(1, VectorOf(rows));
  c.Out(2, VectorOf(rank));
}

void SparseReduceShape(ShapeContext& c) {
  Shape shape = c.ShapeFrom(2);
  const Elements* axes = c.integers(3);
  if (!shape.known_rank() || !axes) return;
  llvm::SmallVector<bool, 6> reduced(shape.rank(), axes->empty());
  for (int64_t axis : *axes) {
    std::optional<int> at = c.Axis(axis, shape.rank());
    if (!at) return;
    reduced[*at] = true;
  }
  Shape out = Shape::Scalar();
  for (int i = 0; i < shape.rank(); ++i) {
    if (!reduced[i]) out.Append(shape.dim(i));
    if (reduced[i] && c.Bool("keep_dims")) out.Append(1);
  }
  c.Out(0, std::move(out));
}

// The output has a distance for each pair of rows.
void EditDistanceShape(ShapeContext& c) {
  Shape hypothesis = c.ShapeFrom(2), truth = c.ShapeFrom(5);
  if (!hypothesis.IsFullyKnown() || !truth.IsFullyKnown() || hypothesis.rank() != truth.rank())
    return;
  Shape out = Shape::Scalar();
  for (int i = 0; i + 1 < truth.rank(); ++i) out.Append(std::max(hypothesis.dim(i), truth.dim(i)));
  c.Out(0, std::move(out));
}

void SerializeSparseShape(ShapeContext& c) {
  c.Out(0, c.op() == "SerializeManySparse" ? MatrixOf(kUnknownDim, 3) : VectorOf(3));
}

void SparseSameRankShape(ShapeContext& c) { OutSparse(c, 0, c.WithRank(2, 1).dim(0)); }

constexpr ShapeRule kRules[] = {
    {"Gather", GatherShape},
    {"GatherV2", GatherV2Shape},
    {"GatherNd", GatherNdShape},
    {"ResourceGather", ResourceGatherShape},
    {"ResourceGatherNd", ResourceGatherNdShape},
    {"ScatterNd", ScatterNdShape},
    {"ScatterNdNonAliasingAdd", SameAsInput},
    {"TensorScatterAdd", SameAsInput},
    {"TensorScatterMax", SameAsInput},
    {"TensorScatterMin", SameAsInput},
    {"TensorScatterSub", SameAsInput},
    {"TensorScatterUpdate", SameAsInput},
    {"InplaceAdd", SameAsInput},
    {"InplaceSub", SameAsInput},
    {"InplaceUpdate", SameAsInput},
    {"ScatterAdd", SameAsInput},
    {"ScatterDiv", SameAsInput},
    {"ScatterMax", SameAsInput},
    {"ScatterMin", SameAsInput},
    {"ScatterMul", SameAsInput},
    {"ScatterSub", SameAsInput},
    {"ScatterUpdate", SameAsInput},
    {"ScatterNdAdd", SameAsInput},
    {"ScatterNdMax", SameAsInput},
    {"ScatterNdMin", SameAsInput},
    {"ScatterNdSub", SameAsInput},
    {"ScatterNdUpdate", SameAsInput},
    {"OneHot", OneHotShape},
    {"Where", WhereShape},
    {"SegmentMax", SegmentShape},
    {"SegmentMean", SegmentShape},
    {"SegmentMin", SegmentShape},
    {"SegmentProd", SegmentShape},
    {"SegmentSum", SegmentShape},
    {"SegmentMaxV2", SegmentV2Shape},
    {"SegmentMinV2", SegmentV2Shape},
    {"SegmentProdV2", SegmentV2Shape},
    {"SegmentSumV2", SegmentV2Shape},
    {"UnsortedSegmentJoin", SegmentV2Shape},
    {"UnsortedSegmentMax", SegmentV2Shape},
    {"UnsortedSegmentMin", SegmentV2Shape},
    {"UnsortedSegmentProd", SegmentV2Shape},
    {"UnsortedSegmentSum", SegmentV2Shape},
    {"SparseSegmentMean", SparseSegmentShape},
    {"SparseSegmentSqrtN", SparseSegmentShape},
    {"SparseSegmentSum", SparseSegmentShape},
    {"SparseSegmentMeanWithNumSegments", SparseSegmentShape},
    {"SparseSegmentSqrtNWithNumSegments", SparseSegmentShape},
    {"SparseSegmentSumWithNumSegments", SparseSegmentShape},
    {"SparseSegmentMeanGrad", SparseSegmentGradShape},
    {"SparseSegmentSqrtNGrad", SparseSegmentGradShape},
    {"SparseSegmentSumGrad", SparseSegmentGradShape},
    {"SparseSegmentMeanGradV2", SparseSegmentGradShape},
    {"SparseSegmentSqrtNGradV2", SparseSegmentGradShape},
    {"SparseSegmentSumGradV2", SparseSegmentGradShape},
    {"Unique", UniqueShape},
    {"UniqueWithCounts", UniqueShape},
    {"UniqueV2", UniqueV2Shape},
    {"UniqueWithCountsV2", UniqueV2Shape},
    {"DynamicPartition", DynamicPartitionShape},
    {"DynamicStitch", DynamicStitchShape},
    {"ParallelDynamicStitch", DynamicStitchShape},
    {"ListDiff", ListDiffShape},
    {"UnravelIndex", UnravelIndexShape},
    {"LowerBound", SecondShape},
    {"UpperBound", SecondShape},
    {"Bincount", BincountShape},
    {"DenseBincount", DenseBincountShape},
    {"RaggedBincount", RaggedBincountShape},
    {"HistogramFixedWidth", HistogramShape},
    {"DenseToDenseSetOperation", SetOperationShape},
    {"DenseToSparseSetOperation", SetOperationShape},
    {"SparseToSparseSetOperation", SetOperationShape},
    {"SetSize", SetSizeShape},
    {"SparseToDense", SparseToDenseShape},
    {"SparseTensorDenseMatMul", SparseDenseMatMulShape},
    {"SparseReorder", SparseReorderShape},
    {"SparseReshape", SparseReshapeShape},
    {"SparseFillEmptyRows", SparseFillEmptyRowsShape},
    {"SparseFillEmptyRowsGrad", SparseFillEmptyRowsGradShape},
    {"SparseSoftmax", LikeValuesShape},
    {"SparseDenseCwiseAdd", SparseValuesShape},
    {"SparseDenseCwiseDiv", SparseValuesShape},
    {"SparseDenseCwiseMul", SparseValuesShape},
    {"SparseConcat", SparseConcatShape},
    {"SparseSlice", SparseSameRankShape},
    {"SparseReduceMax", SparseReduceShape},
    {"SparseReduceSum", SparseReduceShape},
    {"EditDistance", EditDistanceShape},
    {"SerializeManySparse", SerializeSparseShape},
    {"SerializeSparse", SerializeSparseShape},
    {"SparseAdd", SparseSameRankShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> IndexingShapeRules() { return kRules; }

}  // namespace grapnel
