// Elementwise ops on two sparse tensors: SparseAdd and its gradient, SparseSparseMaximum,
// SparseSparseMinimum; and on a sparse and a dense one: SparseDenseCwiseAdd, -Mul, -Div,
// SparseTensorDenseAdd. The rows of two sparse operands must ascend, which the kernels do not
// check.
#include <algorithm>
#include <cmath>

#include "kernels/common/broadcast.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

using AddTypes = TypeList<float, double, int32_t, int64_t, int8_t, int16_t, Complex64, Complex128>;

// --- Union of two tensors

// Calls visit(i, j) for each index present in `a` or `b`, in ascending order: i and j are its rows
// in `a` and `b`, -1 where it is absent.
template <typename Visit>
void ForUnion(const Tensor& a, const Tensor& b, Visit visit) {
  int64_t i = 0, j = 0;
  while (i < a.dim(0) || j < b.dim(0)) {
    int order = i == a.dim(0) ? 1 : j == b.dim(0) ? -1 : CompareRows(a, i, b, j);
    visit(order <= 0 ? i : -1, order >= 0 ? j : -1);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

struct Sparse {
  const Tensor &indices, &values, &shape;
};

Expected<Sparse> SparseIn(const KernelContext& ctx, int i) {
  Sparse sparse{ctx.input(i), ctx.input(i + 1), ctx.input(i + 2)};
  if (Error error = CheckSparseTensor(sparse.indices, &sparse.values, sparse.shape))
    return Annotate(i == 0 ? "a" : "b", std::move(error));
  return sparse;
}

// Inputs 0 to 2 and 3 to 5, of one shape.
struct Operands {
  Sparse a, b;
};

Expected<Operands> TwoOfOneShape(const KernelContext& ctx) {
  ASSIGN_OR_RETURN(Sparse a, SparseIn(ctx, 0));
  ASSIGN_OR_RETURN(Sparse b, SparseIn(ctx, 3));
  Dims left = IntsOf(a.shape), right = IntsOf(b.shape);
  if (left == right) return Operands{a, b};
  return MakeError("operands' shapes do not match: {0} and {1}", IntsText(left), IntsText(right));
}

// The rows of each index in the operands; -1 where it is absent.
using Places = std::vector<std::pair<int64_t, int64_t>>;

// Writes the indices and values to outputs 0 and 1.
Error StorePlaces(KernelContext& ctx, const Operands& from, const Places& places,
                  const void* values) {
  int64_t count = static_cast<int64_t>(places.size()), depth = from.a.indices.dim(1);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {count, depth}));
  ASSIGN_OR_RETURN(Tensor * out_values, ctx.Allocate(1, {count}));
  const int64_t* a = from.a.indices.data<int64_t>();
  const int64_t* b = from.b.indices.data<int64_t>();
  int64_t* to = out->data<int64_t>();
  for (auto [i, j] : places) to = std::copy_n(i >= 0 ? a + i * depth : b + j * depth, depth, to);
  CopyElements(out_values->dtype(), values, out_values->raw(), count);
  return Error::success();
}

// Returns |x| >= limit. The smallest integer has no absolute value; the largest is used instead.
template <typename T, typename Limit>
bool Reaches(T x, Limit limit) {
  if constexpr (std::is_integral_v<T>) {
    T most = std::numeric_limits<T>::max();
    return limit <= (x < 0 ? (x == std::numeric_limits<T>::min() ? most : static_cast<T>(-x)) : x);
  } else {
    return limit <= std::abs(x);
  }
}

Error CheckThreshold(const Tensor& thresh, DataType dtype) {
  if (thresh.num_elements() == 1 && thresh.dtype() == dtype) return Error::success();
  return MakeError("thresh must have one element of {0}, not {1}", DataTypeName(dtype),
                   thresh.ToString(0));
}

// An index in both operands is dropped when |sum| is below the threshold; an index in only one of
// them is kept.
template <typename T>
Error SparseAdd(KernelContext& ctx) {
  using Limit = decltype(std::abs(T()));
  using Threshold = std::conditional_t<std::is_integral_v<T>, T, Limit>;
  ASSIGN_OR_RETURN(Operands from, TwoOfOneShape(ctx));
  RETURN_IF_ERROR(CheckThreshold(ctx.input(6), DataTypeOf<Threshold>()));
  Threshold limit = *ctx.input(6).data<Threshold>();
  const T *a = from.a.values.data<T>(), *b = from.b.values.data<T>();
  Places places;
  std::vector<T> values;
  ForUnion(from.a.indices, from.b.indices, [&](int64_t i, int64_t j) {
    T value = i < 0 ? b[j] : j < 0 ? a[i] : AddOf(a[i], b[j]);
    if (i >= 0 && j >= 0 && !Reaches(value, limit)) return;
    places.emplace_back(i, j);
    values.push_back(value);
  });
  ctx.SetOutput(2, from.a.shape);
  return StorePlaces(ctx, from, places, values.data());
}

Error CheckAddGrad(const KernelContext& ctx) {
  const Tensor &grad = ctx.input(0), &sum = ctx.input(3);
  for (int i = 1; i < 4; ++i) {
    if (sum.rank() != 2 || ctx.input(i).rank() != 2 || ctx.input(i).dim(1) != sum.dim(1))
      return MakeError("indices must be matrices of one width, got shapes {0} and {1}",
                       DimsText(ctx.input(i).dims()), DimsText(sum.dims()));
  }
  if (grad.rank() != 1 || grad.dim(0) != sum.dim(0))
    return MakeError("backprop_val_grad must be a vector of {0} elements, got shape {1}",
                     sum.dim(0), DimsText(grad.dims()));
  return Error::success();
}

// Indices that the sum dropped have no gradient.
template <typename T>
Error SparseAddGrad(KernelContext& ctx) {
  RETURN_IF_ERROR(CheckAddGrad(ctx));
  const T* grad = ctx.input(0).data<T>();
  for (int k = 0; k < 2; ++k) {
    const Tensor& indices = ctx.input(k + 1);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(k, {indices.dim(0)}));
    T* to = out->data<T>();
    std::fill_n(to, out->num_elements(), T(0));
    ForUnion(indices, ctx.input(3), [&](int64_t i, int64_t j) {
      if (i >= 0 && j >= 0) to[i] = grad[j];
    });
  }
  return Error::success();
}

// An absent value counts as 0.
template <typename T, bool kMaximum>
Error SparseExtreme(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Operands from, TwoOfOneShape(ctx));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(from.a.shape));
  RETURN_IF_ERROR(CheckSparseIndices(from.a.indices, dims, false));
  RETURN_IF_ERROR(CheckSparseIndices(from.b.indices, dims, false));
  const T *a = from.a.values.data<T>(), *b = from.b.values.data<T>();
  Places places;
  std::vector<T> values;
  ForUnion(from.a.indices, from.b.indices, [&](int64_t i, int64_t j) {
    T left = i >= 0 ? a[i] : T(0), right = j >= 0 ? b[j] : T(0);
    places.emplace_back(i, j);
    values.push_back((kMaximum ? left < right : right < left) ? right : left);
  });
  return StorePlaces(ctx, from, places, values.data());
}

// --- With a dense tensor

enum class Cwise { kAdd, kMul, kDiv };

// Returns, for each value of the sparse tensor in inputs 0 to 2, the flat index of the matching
// element of input 3.
Expected<std::vector<int64_t>> MetElements(const KernelContext& ctx) {
  ASSIGN_OR_RETURN(Sparse sparse, SparseIn(ctx, 0));
  const Tensor& dense = ctx.input(3);
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(sparse.shape));
  RETURN_IF_ERROR(CheckSparseIndices(sparse.indices, dims, false));
  int64_t depth = static_cast<int64_t>(dims.size()), missing = depth - dense.rank();
  bool fits = missing >= 0;
  for (int d = 0; fits && d < dense.rank(); ++d)
    fits = dense.dim(d) == dims[missing + d] || (dense.dim(d) == 1 && dims[missing + d] != 0);
  if (!fits)
    return MakeError(
        "the dense side must broadcast to the shape of the sparse one: "
        "{0} does not broadcast to {1}",
        DimsText(dense.dims()), DimsText(dims));
  Dims strides = RowMajorStrides(dense.dims());
  std::vector<int64_t> met(sparse.values.num_elements());
  for (size_t i = 0; i < met.size(); ++i) {
    const int64_t* row = sparse.indices.data<int64_t>() + i * depth + missing;
    for (int d = 0; d < dense.rank(); ++d) {
      if (dense.dim(d) > 1) met[i] += row[d] * strides[d];
    }
  }
  return met;
}

// False on division by zero, also for floats.
template <typename T, Cwise kind>
bool Operate(T x, T y, T* out) {
  if constexpr (kind == Cwise::kAdd) {
    *out = AddOf(x, y);
  } else if constexpr (kind == Cwise::kMul) {
    *out = MulOf(x, y);
  } else if (y == T(0)) {
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    // The smallest integer divided by -1 wraps, as a product does.
    bool negate = std::is_signed_v<T> && y == static_cast<T>(-1);
    *out = negate ? SubOf(T(0), x) : static_cast<T>(x / y);
  } else {
    *out = x / y;
  }
  return true;
}

Error DividedByZero(size_t value) {
  return MakeError("division by zero: the divisor of sp_values[{0}] is 0", value);
}

template <typename T, Cwise kind>
Error SparseDense(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::vector<int64_t> met, MetElements(ctx));
  const T *x = ctx.input(1).data<T>(), *y = ctx.input(3).data<T>();
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, ctx.input(1).dims()));
  for (size_t i = 0; i < met.size(); ++i) {
    if (!Operate<T, kind>(x[i], y[met[i]], out->data<T>() + i)) return DividedByZero(i);
  }
  return Error::success();
}

// Returns input 3, writable: its own memory, or a copy if that is shared. It must have the shape of
// the sparse tensor in inputs 0 to 2.
Expected<Tensor> DenseToAddTo(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Sparse a, SparseIn(ctx, 0));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(a.shape));
  if (llvm::ArrayRef<int64_t>(dims) != ctx.input(3).dims())
    return MakeError("operands' shapes do not match: {0} and {1}", DimsText(dims),
                     DimsText(ctx.input(3).dims()));
  RETURN_IF_ERROR(CheckSparseIndices(a.indices, dims, false));
  Tensor dense = ctx.TakeInput(3);
  if (dense.OwnsAlone()) return dense;
  ASSIGN_OR_RETURN(Tensor copy, ctx.Scratch(dense.dtype(), dense.dims()));
  CopyElements(dense.dtype(), dense.raw(), copy.raw(), dense.num_elements());
  return copy;
}

template <typename T>
Error SparseTensorDenseAdd(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Tensor dense, DenseToAddTo(ctx));
  const Tensor &indices = ctx.input(0), &values = ctx.input(1);
  Dims strides = RowMajorStrides(dense.dims());
  for (int64_t i = 0; i < values.dim(0); ++i) {
    int64_t at = 0;
    for (int d = 0; d < dense.rank(); ++d) at += indices.IntAt(i * dense.rank() + d) * strides[d];
    dense.data<T>()[at] = AddOf(dense.data<T>()[at], values.data<T>()[i]);
  }
  ctx.SetOutput(0, std::move(dense));
  return Error::success();
}

// --- One kernel per dtype

template <typename Types, template <typename> class Op>
Expected<KernelFn> MakeTyped(const KernelSetup& setup) {
  using Kernel = Error (*)(KernelContext&);
  Kernel kernel = ForType(setup.node().GetType("T"), Types(),
                          [](auto tag) -> Kernel { return Op<typename decltype(tag)::type>::Run; });
  if (!kernel) return MakeError("no kernel for dtype {0}", DataTypeName(setup.node().GetType("T")));
  return KernelFn(kernel);
}

#define GRAPNEL_SPARSE_KERNEL(op, types, ...)                         \
  template <typename T>                                               \
  struct op##Op {                                                     \
    static Error Run(KernelContext& ctx) { return __VA_ARGS__(ctx); } \
  };                                                                  \
  GRAPNEL_CPU_KERNEL(#op, (MakeTyped<types, op##Op>), OfTypes("T", DataTypesOf(types())))
GRAPNEL_SPARSE_KERNEL(SparseAdd, AddTypes, SparseAdd<T>);
GRAPNEL_SPARSE_KERNEL(SparseAddGrad, AddTypes, SparseAddGrad<T>);
GRAPNEL_SPARSE_KERNEL(SparseSparseMaximum, RealTypes, SparseExtreme<T, true>);
GRAPNEL_SPARSE_KERNEL(SparseSparseMinimum, RealTypes, SparseExtreme<T, false>);
GRAPNEL_SPARSE_KERNEL(SparseDenseCwiseAdd, RealTypes, SparseDense<T, Cwise::kAdd>);
GRAPNEL_SPARSE_KERNEL(SparseDenseCwiseMul, RealTypes, SparseDense<T, Cwise::kMul>);
GRAPNEL_SPARSE_KERNEL(SparseDenseCwiseDiv, RealTypes, SparseDense<T, Cwise::kDiv>);
GRAPNEL_SPARSE_KERNEL(SparseTensorDenseAdd, NumberTypes, SparseTensorDenseAdd<T>);

}  // namespace
}  // namespace grapnel
