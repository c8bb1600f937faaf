// SparseTensorDenseMatMul: a sparse matrix times a dense one.
#include <algorithm>

#include "kernels/common/dims.h"
#include "kernels/common/epilogue.h"
#include "kernels/common/rounded_half.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

using SparseMatMulTypes = Join<FloatOrComplexTypes, TypeList<int32_t>>;

template <typename T>
T ConjugateIf(bool conjugate, T x) {
  if constexpr (kIsComplex<T>) {
    if (conjugate) return std::conj(x);
  }
  return x;
}

struct Adjoints {
  bool a, b;
};

// TensorFlow sums bfloat16 with rounding at each step, half in float.
template <typename T, typename Compute>
Compute AddProduct(Compute sum, Compute a, Compute b) {
  if constexpr (std::is_same_v<T, Eigen::bfloat16>)
    return RoundedTo<T>(sum + RoundedTo<T>(a * b));
  else
    return AddOf(sum, MulOf(a, b));
}

// Computes columns [begin, end) of the product. Elements of `a` are processed in order, so the sums
// do not depend on the threads.
template <typename T>
void Columns(const Tensor& indices, const Tensor& values, const Tensor& b, Adjoints adjoint,
             int64_t begin, int64_t end, int64_t rows, int64_t columns, ComputeType<T>* out) {
  using Compute = ComputeType<T>;
  for (int64_t row = 0; row < rows; ++row)
    std::fill(out + row * columns + begin, out + row * columns + end, Compute(0));
  int64_t width = b.dim(1);
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    int64_t m = indices.IntAt(2 * i + adjoint.a), k = indices.IntAt(2 * i + 1 - adjoint.a);
    Compute value = ConjugateIf(adjoint.a, static_cast<Compute>(values.data<T>()[i]));
    Compute* to = out + m * columns;
    if (adjoint.b) {
      const T* from = b.data<T>() + k;
      for (int64_t j = begin; j < end; ++j)
        to[j] =
            AddProduct<T>(to[j], value, ConjugateIf(true, static_cast<Compute>(from[j * width])));
    } else {
      const T* from = b.data<T>() + k * width;
      GRAPNEL_VECTORIZE
      for (int64_t j = begin; j < end; ++j)
        to[j] = AddProduct<T>(to[j], value, static_cast<Compute>(from[j]));
    }
  }
}

template <typename T>
Error SparseMatMul(KernelContext& ctx, Adjoints adjoint) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1), &shape = ctx.input(2),
               &b = ctx.input(3);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, shape));
  if (indices.dim(1) != 2 || b.rank() != 2)
    return MakeError("both operands must be matrices, not of rank {0} and {1}", indices.dim(1),
                     b.rank());
  ASSIGN_OR_RETURN(Dims a_dims, ShapeFrom(shape));
  int64_t rows = a_dims[adjoint.a ? 1 : 0], inner = a_dims[adjoint.a ? 0 : 1];
  int64_t b_rows = b.dim(adjoint.b ? 1 : 0), columns = b.dim(adjoint.b ? 0 : 1);
  if (inner != b_rows)
    return MakeError("the inner dimensions of {0} and {1} do not match: {2} and {3}",
                     DimsText(a_dims), DimsText(b.dims()), inner, b_rows);
  RETURN_IF_ERROR(CheckSparseIndices(indices, a_dims, false));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows, columns}));
  if (out->num_elements() == 0) return Error::success();
  using Compute = ComputeType<T>;
  Compute* to = nullptr;
  Tensor wide;
  if constexpr (kIsSmallFloat<T>) {
    ASSIGN_OR_RETURN(wide, ctx.Scratch(proto::DT_FLOAT, out->dims()));
    to = wide.data<float>();
  } else {
    to = out->data<T>();
  }
  constexpr int64_t kColumns = 32;
  int64_t blocks = (columns + kColumns - 1) / kColumns;
  double cost = (indices.dim(0) + rows) * std::min(columns, kColumns) * 0.6;
  ctx.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
    Columns<T>(indices, values, b, adjoint, begin * kColumns, std::min(columns, end * kColumns),
               rows, columns, to);
  });
  if constexpr (kIsSmallFloat<T>) NarrowInto(ctx, to, *out);
  return Error::success();
}

Expected<KernelFn> MakeSparseMatMul(const KernelSetup& setup) {
  Adjoints adjoint{setup.node().GetBool("adjoint_a"), setup.node().GetBool("adjoint_b")};
  KernelFn fn;
  ForType(setup.output_type(0), SparseMatMulTypes(), [&](auto tag) {
    fn = [adjoint](KernelContext& ctx) {
      return SparseMatMul<typename decltype(tag)::type>(ctx, adjoint);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("SparseTensorDenseMatMul", MakeSparseMatMul,
                   OfTypes("T", DataTypesOf(SparseMatMulTypes())));

}  // namespace
}  // namespace grapnel
