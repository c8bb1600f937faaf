// Shape functions of sparse matrices in CSR form (CSRSparseMatrix). Such a matrix is a scalar
// variant; the shape of its contents is [rows, columns], with a batch dimension in front for a
// batch of matrices.
#include "lib/shape/functions.h"

namespace grapnel {
namespace {

void OutMatrix(ShapeContext& c, const Shape& shape) {
  c.Out(0, Shape::Scalar());
  if (shape.known_rank()) c.OutContent(0, shape);
}
Shape MatrixIn(const ShapeContext& c, int i) {
  const Shape* content = c.facts(i).content();
  return content && content->known_rank() && content->rank() >= 2 ? *content : Shape::Unknown();
}

void FromSparseShape(ShapeContext& c) { OutMatrix(c, c.ShapeFrom(2)); }
void FromDenseShape(ShapeContext& c) { OutMatrix(c, c.in(0)); }
void ZerosShape(ShapeContext& c) { OutMatrix(c, c.ShapeFrom(0)); }
void LikeMatrixShape(ShapeContext& c) { OutMatrix(c, MatrixIn(c, 0)); }

// The input may also be a variant, whose contents keep their shape too.
void ConjShape(ShapeContext& c) {
  SameAsInput(c);
  if (const Shape* content = c.facts(0).content()) c.OutContent(0, *content);
}

void ToDenseShape(ShapeContext& c) {
  if (Shape shape = MatrixIn(c, 0); shape.known_rank()) c.Out(0, shape);
}

void ToSparseShape(ShapeContext& c) {
  Shape shape = MatrixIn(c, 0);
  int64_t rank = shape.known_rank() ? shape.rank() : kUnknownDim;
  c.Out(0, MatrixOf(kUnknownDim, rank));
  c.Out(1, VectorOf(kUnknownDim));
  c.Out(2, VectorOf(rank));
}

void ComponentsShape(ShapeContext& c) {
  Shape shape = MatrixIn(c, 0);
  int64_t rows = shape.known_rank() ? shape.dim(shape.rank() - 2) : kUnknownDim;
  c.Out(0, VectorOf(AddDims(rows, 1)));
  c.Out(1, VectorOf(kUnknownDim));
  c.Out(2, VectorOf(kUnknownDim));
}

void CountShape(ShapeContext& c) {
  Shape shape = MatrixIn(c, 0);
  if (shape.known_rank()) c.Out(0, shape.rank() == 3 ? VectorOf(shape.dim(0)) : Shape::Scalar());
}

void TransposeShape(ShapeContext& c) {
  Shape shape = MatrixIn(c, 0);
  if (shape.known_rank()) {
    int last = shape.rank() - 1;
    int64_t rows = shape.dim(last - 1);
    shape.set_dim(last - 1, shape.dim(last));
    shape.set_dim(last, rows);
  }
  OutMatrix(c, shape);
}

// Returns the shape of the product of a and b, each transposed as the attributes say.
Shape ProductShape(ShapeContext& c, const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank() || a.rank() != b.rank()) return Shape::Unknown();
  int last = a.rank() - 1;
  bool turn_a = c.Bool("transpose_a") || c.Bool("adjoint_a");
  bool turn_b = c.Bool("transpose_b") || c.Bool("adjoint_b");
  Shape shape = a;
  shape.set_dim(last - 1, a.dim(turn_a ? last : last - 1));
  shape.set_dim(last, b.dim(turn_b ? last - 1 : last));
  c.Equal(a.dim(turn_a ? last - 1 : last), b.dim(turn_b ? last : last - 1),
          "the columns of the first matrix and the rows of the second");
  return shape;
}

void SparseProductShape(ShapeContext& c) {
  OutMatrix(c, ProductShape(c, MatrixIn(c, 0), MatrixIn(c, 1)));
}

void DenseProductShape(ShapeContext& c) {
  Shape b = c.in(1).known_rank() && c.in(1).rank() >= 2 ? c.in(1) : Shape::Unknown();
  Shape shape = ProductShape(c, MatrixIn(c, 0), b);
  if (!shape.known_rank()) return;
  if (c.Bool("transpose_output")) {
    int last = shape.rank() - 1;
    int64_t rows = shape.dim(last - 1);
    shape.set_dim(last - 1, shape.dim(last));
    shape.set_dim(last, rows);
  }
  c.Out(0, std::move(shape));
}

constexpr ShapeRule kRules[] = {
    {"SparseTensorToCSRSparseMatrix", FromSparseShape},
    {"DenseToCSRSparseMatrix", FromDenseShape},
    {"CSRSparseMatrixToDense", ToDenseShape},
    {"CSRSparseMatrixToSparseTensor", ToSparseShape},
    {"CSRSparseMatrixComponents", ComponentsShape},
    {"SparseMatrixNNZ", CountShape},
    {"SparseMatrixMatMul", DenseProductShape},
    {"SparseMatrixSparseMatMul", SparseProductShape},
    {"SparseMatrixTranspose", TransposeShape},
    {"SparseMatrixMul", LikeMatrixShape},
    {"SparseMatrixAdd", LikeMatrixShape},
    {"SparseMatrixSoftmax", LikeMatrixShape},
    {"SparseMatrixSoftmaxGrad", LikeMatrixShape},
    {"SparseMatrixZeros", ZerosShape},
    {"Conj", ConjShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> SparseCsrShapeRules() { return kRules; }

}  // namespace grapnel
