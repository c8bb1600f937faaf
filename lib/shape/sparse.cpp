// Shape functions of ops on sparse tensors, each of which is three tensors (indices, values,
// shape): count, cross, split and others; and of ops whose number of rows depends on values.
#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// Sets outputs from `first` on: `count` tensors of indices, then `count` of values, then `count` of
// shapes.
void OutSparse(ShapeContext& c, int first, int count, int64_t rank) {
  for (int i = 0; i < count; ++i) {
    c.Out(first + i, MatrixOf(kUnknownDim, rank));
    c.Out(first + count + i, VectorOf(kUnknownDim));
    c.Out(first + 2 * count + i, VectorOf(rank));
  }
}

// Returns the size of a vector or the number of rows of a matrix.
int64_t RowsOf(const Shape& shape) {
  return shape.known_rank() && shape.rank() > 0 ? shape.dim(0) : kUnknownDim;
}

int64_t ColumnsOf(const Shape& shape) {
  return shape.known_rank() && shape.rank() == 2 ? shape.dim(1) : kUnknownDim;
}

void DenseCountShape(ShapeContext& c) {
  OutSparse(c, 0, 1, c.in(0).known_rank() ? c.in(0).rank() : kUnknownDim);
}

void SparseCountShape(ShapeContext& c) { OutSparse(c, 0, 1, RowsOf(c.in(2))); }

void SparseMatrixShape(ShapeContext& c) { OutSparse(c, 0, 1, 2); }

void SparseOfAnyRankShape(ShapeContext& c) { OutSparse(c, 0, 1, kUnknownDim); }

void SparseSplitShape(ShapeContext& c) { OutSparse(c, 0, c.num_outputs() / 3, RowsOf(c.in(3))); }

void SparseSparseShape(ShapeContext& c) {
  c.Out(0, MatrixOf(kUnknownDim, ColumnsOf(c.in(0))));
  c.Out(1, VectorOf(kUnknownDim));
}

void SparseSliceGradShape(ShapeContext& c) { c.Out(0, VectorOf(RowsOf(c.in(1)))); }

void SparseAddGradShape(ShapeContext& c) {
  c.Out(0, VectorOf(RowsOf(c.in(1))));
  c.Out(1, VectorOf(RowsOf(c.in(2))));
}

void LikeFourthInput(ShapeContext& c) { c.Out(0, c.in(3)); }
void LikeSecondInput(ShapeContext& c) { c.Out(0, c.in(1)); }

void VectorOutputs(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, VectorOf(kUnknownDim));
}

void TableExportShape(ShapeContext& c) {
  c.Out(0, VectorOf(kUnknownDim));
  if (const Shape* value = c.facts(0).content())
    c.Out(1, ConcatShapes(VectorOf(kUnknownDim), *value));
}

void RaggedFillEmptyRowsShape(ShapeContext& c) {
  VectorOutputs(c);
  if (std::optional<int64_t> rows = c.integer(2)) c.Out(2, VectorOf(*rows));
  c.Out(3, c.in(0));
}

void RaggedFillEmptyRowsGradShape(ShapeContext& c) {
  c.Out(0, c.in(0));
  c.Out(1, Shape::Scalar());
}

// The output has as many rows as its inputs. Ragged inputs are tried first, because the number of
// rows of a sparse input is unknown.
void RaggedCrossShape(ShapeContext& c) {
  std::optional<AttrView> ragged = c.Attr("ragged_values_types"), dense = c.Attr("dense_types");
  auto types = ragged ? ragged->AsTypes() : std::nullopt;
  auto dense_types = dense ? dense->AsTypes() : std::nullopt;
  VectorOutputs(c);
  if (types && !types->empty()) {
    c.Out(1, VectorOf(RowsOf(c.in(static_cast<int>(types->size())))));
  } else if (dense_types && !dense_types->empty()) {
    c.Out(1, VectorOf(AddDims(RowsOf(c.in(c.num_inputs() - 1)), 1)));
  }
}

void CtcBeamSearchShape(ShapeContext& c) {
  int paths = (c.num_outputs() - 1) / 3;
  OutSparse(c, 0, paths, 2);
  c.Out(3 * paths, MatrixOf(c.WithRank(0, 3).dim(1), paths));
}

constexpr ShapeRule kRules[] = {
    {"DenseCountSparseOutput", DenseCountShape},
    {"SparseCountSparseOutput", SparseCountShape},
    {"RaggedCountSparseOutput", SparseMatrixShape},
    {"SparseCross", SparseMatrixShape},
    {"SparseCrossV2", SparseMatrixShape},
    {"SparseCrossHashed", SparseMatrixShape},
    {"SparseSplit", SparseSplitShape},
    {"SparseSliceGrad", SparseSliceGradShape},
    {"SparseSparseMaximum", SparseSparseShape},
    {"SparseSparseMinimum", SparseSparseShape},
    {"SparseAddGrad", SparseAddGradShape},
    {"SparseTensorDenseAdd", LikeFourthInput},
    {"DeserializeSparse", SparseOfAnyRankShape},
    {"DeserializeManySparse", SparseOfAnyRankShape},
    {"TakeManySparseFromTensorsMap", SparseOfAnyRankShape},
    {"AddSparseToTensorsMap", ScalarOutputs},
    {"AddManySparseToTensorsMap", VectorOutputs},
    {"ComputeAccidentalHits", VectorOutputs},
    {"CTCBeamSearchDecoder", CtcBeamSearchShape},
    {"LookupTableExport", TableExportShape},
    {"LookupTableExportV2", TableExportShape},
    {"RaggedFillEmptyRows", RaggedFillEmptyRowsShape},
    {"RaggedFillEmptyRowsGrad", RaggedFillEmptyRowsGradShape},
    {"RaggedCross", RaggedCrossShape},
    {"StackPushV2", LikeSecondInput},
    {"TridiagonalMatMul", LikeFourthInput},
};

}  // namespace

llvm::ArrayRef<ShapeRule> SparseShapeRules() { return kRules; }

}  // namespace grapnel
