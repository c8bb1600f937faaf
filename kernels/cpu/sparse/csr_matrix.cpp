// Sparse matrices in CSR form, as variants: SparseTensorToCSRSparseMatrix, DenseToCSRSparseMatrix
// and back, CSRSparseMatrixComponents, SparseMatrixNNZ, SparseMatrixMatMul, Conj. With three
// dimensions the first is a batch.
#include <algorithm>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

using CsrTypes = TypeList<float, double, Complex64, Complex128>;

struct CsrMatrix : Object {
  Dims dims;                        // two or three
  std::vector<int32_t> row_starts;  // rows + 1 per matrix of the batch, each starting at 0
  std::vector<int32_t> columns;     // of all matrices
  std::vector<int64_t> begins;      // start of each matrix in `columns`, and the end
  Tensor values;

  int64_t batch() const { return dims.size() == 3 ? dims[0] : 1; }
  int64_t rows() const { return dims[dims.size() - 2]; }
  int64_t width() const { return dims.back(); }
  const int32_t* starts(int64_t b) const { return row_starts.data() + b * (rows() + 1); }
  std::string ToString() const override {
    return llvm::formatv("sparse matrix {0}{1} of {2} places", DataTypeName(values.dtype()),
                         DimsText(dims), columns.size())
        .str();
  }
};
using CsrRef = llvm::IntrusiveRefCntPtr<CsrMatrix>;

Expected<CsrMatrix*> MatrixIn(const KernelContext& ctx, int i) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.num_elements() == 1) {
    if (auto* matrix = dynamic_cast<CsrMatrix*>(tensor.data<ObjectRef>()->get())) return matrix;
  }
  return MakeError("input {0} is {1}, a sparse matrix was expected", i, tensor.ToString());
}

// Creates a matrix of shape `dims` with nonzeros at `indices`, which must ascend; `values` are in
// that order.
Expected<CsrRef> MatrixOf(const Tensor& indices, const Dims& dims, Tensor values) {
  if (dims.size() != 2 && dims.size() != 3)
    return MakeError("a sparse matrix must have rank 2 or 3, not {0}", dims.size());
  CsrRef matrix(new CsrMatrix);
  matrix->dims = dims;
  int64_t batch = matrix->batch(), rows = matrix->rows(), depth = indices.dim(1), starts = 0;
  // Every row takes memory, even if empty.
  if (__builtin_mul_overflow(batch, rows + 1, &starts) || starts > (int64_t{1} << 28) ||
      matrix->width() > INT32_MAX || indices.dim(0) > INT32_MAX)
    return MakeError(
        "a sparse matrix of shape {0} with {1} elements is too large: at most 2147483647 columns, "
        "2147483647 elements and 268435456 row starts (one per row and one per matrix) are "
        "supported",
        DimsText(dims), indices.dim(0));
  matrix->row_starts.assign(starts, 0);
  matrix->begins.assign(batch + 1, 0);
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t* at = indices.data<int64_t>() + i * depth;
    int64_t b = depth == 3 ? at[0] : 0;
    ++matrix->row_starts[b * (rows + 1) + at[depth - 2] + 1];
    ++matrix->begins[b + 1];
    matrix->columns.push_back(static_cast<int32_t>(at[depth - 1]));
  }
  for (int64_t b = 0; b < batch; ++b) {
    matrix->begins[b + 1] += matrix->begins[b];
    for (int64_t r = 0; r < rows; ++r)
      matrix->row_starts[b * (rows + 1) + r + 1] += matrix->row_starts[b * (rows + 1) + r];
  }
  matrix->values = std::move(values);
  return matrix;
}

// Calls visit(batch, row, i) for each nonzero `i` of the matrices [first, last), in order.
template <typename Visit>
void ForPlaces(const CsrMatrix& matrix, int64_t first, int64_t last, Visit visit) {
  for (int64_t b = first; b < last; ++b) {
    const int32_t* starts = matrix.starts(b);
    for (int64_t r = 0; r < matrix.rows(); ++r) {
      for (int64_t i = starts[r]; i < starts[r + 1]; ++i) visit(b, r, matrix.begins[b] + i);
    }
  }
}

Error PutMatrix(KernelContext& ctx, CsrRef matrix) {
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_VARIANT, std::move(matrix)));
  return Error::success();
}

Error FromSparse(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(2)));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(2)));
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, false));
  std::vector<int64_t> order = RowOrder(indices);
  int64_t depth = indices.dim(1);
  ASSIGN_OR_RETURN(Tensor sorted, ctx.Scratch(proto::DT_INT64, indices.dims()));
  ASSIGN_OR_RETURN(Tensor sorted_values, ctx.Scratch(values.dtype(), values.dims()));
  for (size_t i = 0; i < order.size(); ++i) {
    int64_t to = static_cast<int64_t>(i);
    std::copy_n(indices.data<int64_t>() + order[i] * depth, depth,
                sorted.data<int64_t>() + to * depth);
    CopyElements(values.dtype(), At(values, order[i]), At(sorted_values, to), 1);
  }
  ASSIGN_OR_RETURN(CsrRef matrix, MatrixOf(sorted, dims, std::move(sorted_values)));
  return PutMatrix(ctx, std::move(matrix));
}

// Makes a sparse matrix of the elements of a dense one at `indices`.
Error FromDense(KernelContext& ctx) {
  const Tensor &dense = ctx.input(0), &indices = ctx.input(1);
  if (indices.rank() != 2 || indices.dim(1) != dense.rank())
    return MakeError("indices must be a matrix of {0} columns, got shape {1}", dense.rank(),
                     DimsText(indices.dims()));
  Dims dims(dense.dims().begin(), dense.dims().end());
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, true));
  Dims strides = RowMajorStrides(dims);
  int64_t depth = indices.dim(1);
  ASSIGN_OR_RETURN(Tensor values, ctx.Scratch(dense.dtype(), {indices.dim(0)}));
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < depth; ++d) at += indices.IntAt(i * depth + d) * strides[d];
    CopyElements(dense.dtype(), At(dense, at), At(values, i), 1);
  }
  ASSIGN_OR_RETURN(CsrRef matrix, MatrixOf(indices, dims, std::move(values)));
  return PutMatrix(ctx, std::move(matrix));
}

Error CheckType(const KernelContext& ctx, int output, const CsrMatrix& matrix) {
  if (matrix.values.dtype() == ctx.output_type(output)) return Error::success();
  return MakeError("the matrix has dtype {0}, expected {1}", DataTypeName(matrix.values.dtype()),
                   DataTypeName(ctx.output_type(output)));
}

Error ToDense(KernelContext& ctx) {
  ASSIGN_OR_RETURN(CsrMatrix * matrix, MatrixIn(ctx, 0));
  RETURN_IF_ERROR(CheckType(ctx, 0, *matrix));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, matrix->dims));
  std::fill_n(static_cast<char*>(out->raw()), out->byte_size(), 0);
  ForPlaces(*matrix, 0, matrix->batch(), [&](int64_t b, int64_t r, int64_t i) {
    int64_t at = (b * matrix->rows() + r) * matrix->width() + matrix->columns[i];
    CopyElements(out->dtype(), At(matrix->values, i), At(*out, at), 1);
  });
  return Error::success();
}

Error ToSparse(KernelContext& ctx) {
  ASSIGN_OR_RETURN(CsrMatrix * matrix, MatrixIn(ctx, 0));
  RETURN_IF_ERROR(CheckType(ctx, 1, *matrix));
  int64_t depth = static_cast<int64_t>(matrix->dims.size());
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {matrix->values.dim(0), depth}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {depth}));
  std::copy(matrix->dims.begin(), matrix->dims.end(), shape->data<int64_t>());
  int64_t* to = indices->data<int64_t>();
  ForPlaces(*matrix, 0, matrix->batch(), [&](int64_t b, int64_t r, int64_t i) {
    if (depth == 3) *to++ = b;
    *to++ = r;
    *to++ = matrix->columns[i];
  });
  ctx.SetOutput(1, matrix->values);
  return Error::success();
}

Error CountPlaces(KernelContext& ctx) {
  ASSIGN_OR_RETURN(CsrMatrix * matrix, MatrixIn(ctx, 0));
  Dims dims;
  if (matrix->dims.size() == 3) dims.push_back(matrix->batch());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  for (int64_t b = 0; b < matrix->batch(); ++b)
    out->data<int32_t>()[b] = static_cast<int32_t>(matrix->begins[b + 1] - matrix->begins[b]);
  return Error::success();
}

Error Components(KernelContext& ctx) {
  ASSIGN_OR_RETURN(CsrMatrix * matrix, MatrixIn(ctx, 0));
  RETURN_IF_ERROR(CheckType(ctx, 2, *matrix));
  if (ctx.input(1).num_elements() != 1) return MakeError("index must have one element");
  int64_t b = ctx.input(1).IntAt(0);
  if (b < 0 || b >= matrix->batch())
    return MakeError("index ({0}) not in [0, {1})", b, matrix->batch());
  int64_t begin = matrix->begins[b], count = matrix->begins[b + 1] - begin;
  ASSIGN_OR_RETURN(Tensor * starts, ctx.Allocate(0, {matrix->rows() + 1}));
  ASSIGN_OR_RETURN(Tensor * columns, ctx.Allocate(1, {count}));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(2, {count}));
  std::copy_n(matrix->starts(b), matrix->rows() + 1, starts->data<int32_t>());
  std::copy_n(matrix->columns.data() + begin, count, columns->data<int32_t>());
  CopyElements(values->dtype(), At(matrix->values, begin), values->raw(), count);
  return Error::success();
}

// Conj of a variant: the gradients of sparse products contain this op.
Error Conjugate(KernelContext& ctx) {
  ASSIGN_OR_RETURN(CsrMatrix * matrix, MatrixIn(ctx, 0));
  DataType dtype = matrix->values.dtype();
  if (dtype != proto::DT_COMPLEX64 && dtype != proto::DT_COMPLEX128) {
    ctx.SetOutput(0, ctx.input(0));
    return Error::success();
  }
  CsrRef result(new CsrMatrix);
  result->dims = matrix->dims;
  result->row_starts = matrix->row_starts;
  result->columns = matrix->columns;
  result->begins = matrix->begins;
  ASSIGN_OR_RETURN(result->values, Tensor::Allocate(dtype, matrix->values.dims()));
  ForType(dtype, TypeList<Complex64, Complex128>(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < matrix->values.num_elements(); ++i)
      result->values.data<T>()[i] = std::conj(matrix->values.data<T>()[i]);
    return true;
  });
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_VARIANT, std::move(result)));
  return Error::success();
}

// --- SparseMatrixMatMul

struct Product {
  bool transpose_a, transpose_b, adjoint_a, adjoint_b, transpose_out, conjugate_out;
};

template <typename T>
T ConjugateIf(bool conjugate, T x) {
  if constexpr (kIsComplex<T>) return conjugate ? std::conj(x) : x;
  return x;
}

// Multiplies a sparse matrix by a dense one, for each matrix of the batch.
template <typename T>
Error Multiply(KernelContext& ctx, const Product& form) {
  ASSIGN_OR_RETURN(CsrMatrix * a, MatrixIn(ctx, 0));
  const Tensor& b = ctx.input(1);
  RETURN_IF_ERROR(CheckType(ctx, 0, *a));
  bool turn_a = form.transpose_a || form.adjoint_a, turn_b = form.transpose_b || form.adjoint_b;
  int rank = static_cast<int>(a->dims.size());
  if (b.rank() != rank || (rank == 3 && b.dim(0) != a->batch()))
    return MakeError(
        "a sparse and a dense matrix must have the same rank and number of matrices, got shapes "
        "{0} and {1}",
        DimsText(a->dims), DimsText(b.dims()));
  int64_t b_rows = b.dim(rank - 2), b_width = b.dim(rank - 1);
  int64_t m = turn_a ? a->width() : a->rows(), k = turn_a ? a->rows() : a->width();
  int64_t n = turn_b ? b_rows : b_width;
  if (k != (turn_b ? b_width : b_rows))
    return MakeError("the inner dimensions of shapes {0}{1} and {2}{3} differ", DimsText(a->dims),
                     turn_a ? " transposed" : "", DimsText(b.dims()), turn_b ? " transposed" : "");
  Dims dims{form.transpose_out ? n : m, form.transpose_out ? m : n};
  if (rank == 3) dims.insert(dims.begin(), a->batch());
  if (!NumElements(dims)) return MakeError("a product of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  std::fill_n(out->data<T>(), out->num_elements(), T(0));
  // Strides of the rows and columns of the result and of b.
  int64_t to_row = form.transpose_out ? 1 : n, to_column = form.transpose_out ? m : 1;
  int64_t from_row = turn_b ? 1 : b_width, from_column = turn_b ? b_width : 1;
  ctx.ParallelFor(a->batch(), 2.0 * static_cast<double>(n), [&](int64_t first, int64_t last) {
    ForPlaces(*a, first, last, [&](int64_t batch, int64_t r, int64_t i) {
      int64_t row = turn_a ? a->columns[i] : r, inner = turn_a ? r : a->columns[i];
      T value = ConjugateIf(form.adjoint_a, a->values.data<T>()[i]);
      const T* from = b.data<T>() + batch * b_rows * b_width + inner * from_row;
      T* to = out->data<T>() + batch * m * n + row * to_row;
      for (int64_t c = 0; c < n; ++c) {
        T x = ConjugateIf(form.adjoint_b, from[c * from_column]);
        to[c * to_column] = AddOf(to[c * to_column], MulOf(value, x));
      }
    });
  });
  for (int64_t i = 0; form.conjugate_out && i < out->num_elements(); ++i)
    out->data<T>()[i] = ConjugateIf(true, out->data<T>()[i]);
  return Error::success();
}

Expected<KernelFn> MakeMultiply(const KernelSetup& setup) {
  const Node& node = setup.node();
  Product form{node.GetBool("transpose_a"),      node.GetBool("transpose_b"),
               node.GetBool("adjoint_a"),        node.GetBool("adjoint_b"),
               node.GetBool("transpose_output"), node.GetBool("conjugate_output")};
  if ((form.transpose_a && form.adjoint_a) || (form.transpose_b && form.adjoint_b))
    return MakeError("an operand cannot be both transposed and adjoint");
  KernelFn fn;
  ForType(setup.output_type(0), CsrTypes(), [&](auto tag) {
    fn = [form](KernelContext& ctx) { return Multiply<typename decltype(tag)::type>(ctx, form); };
    return true;
  });
  return fn;
}

#define GRAPNEL_CSR_KERNEL(op, type_attr, make) \
  GRAPNEL_CPU_KERNEL(op, make, OfTypes(type_attr, DataTypesOf(CsrTypes())))
GRAPNEL_CSR_KERNEL("SparseTensorToCSRSparseMatrix", "T", KernelOf<FromSparse>);
GRAPNEL_CSR_KERNEL("DenseToCSRSparseMatrix", "T", KernelOf<FromDense>);
GRAPNEL_CSR_KERNEL("CSRSparseMatrixToDense", "type", KernelOf<ToDense>);
GRAPNEL_CSR_KERNEL("CSRSparseMatrixToSparseTensor", "type", KernelOf<ToSparse>);
GRAPNEL_CSR_KERNEL("CSRSparseMatrixComponents", "type", KernelOf<Components>);
GRAPNEL_CSR_KERNEL("SparseMatrixMatMul", "T", MakeMultiply);
GRAPNEL_CPU_KERNEL("SparseMatrixNNZ", KernelOf<CountPlaces>);
GRAPNEL_CPU_KERNEL("Conj", KernelOf<Conjugate>, OfTypes("T", {proto::DT_VARIANT}));

}  // namespace
}  // namespace grapnel
