// Slices written by index: ScatterNd, ScatterNdNonAliasingAdd, TensorScatterUpdate, -Add, -Sub,
// -Min, -Max.
#include "kernels/cpu/array/scatter.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/dispatch.h"
#include "kernels/common/indices.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

using ScatterTypes = Join<NumberTypes, TypeList<bool>>;

template <typename T>
void CombineSlice(Combine how, T* to, const T* from, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; ++i, from += step) {
    if constexpr (std::is_same_v<T, bool>) {
      to[i] = how == Combine::kMin ? to[i] & *from : to[i] | *from;
    } else {
      if (how == Combine::kAdd) to[i] = AddOf(to[i], *from);
      if (how == Combine::kSub) to[i] = SubOf(to[i], *from);
      if (how == Combine::kMul) to[i] = MulOf(to[i], *from);
      if (how == Combine::kDiv) to[i] = to[i] / *from;
      if constexpr (!kIsComplex<T>) {
        if (how == Combine::kMin) to[i] = *from < to[i] ? *from : to[i];
        if (how == Combine::kMax) to[i] = *from > to[i] ? *from : to[i];
      }
    }
  }
}

template <typename T>
bool HasZero(const Tensor& tensor) {
  return std::is_integral_v<T> &&
         std::find(tensor.data<T>(), tensor.data<T>() + tensor.num_elements(), T(0)) !=
             tensor.data<T>() + tensor.num_elements();
}

}  // namespace

Error ScatterSlices(const Tensor& indices, const Tensor& updates, Combine how, Tensor& out,
                    bool repeat) {
  ASSIGN_OR_RETURN(SliceOffsets slices, ReadSliceIndices(indices, out.dims()));
  Dims expected = slices.batch;
  expected.append(slices.slice.begin(), slices.slice.end());
  repeat &= updates.rank() == 0;
  if (!repeat && updates.dims() != llvm::ArrayRef<int64_t>(expected)) {
    return MakeError(
        "updates must have shape {0} (ops that write rows of a variable also take a scalar) for "
        "indices of shape {1} and output of shape {2}, got {3}",
        DimsText(expected), DimsText(indices.dims()), DimsText(out.dims()),
        DimsText(updates.dims()));
  }
  if (updates.num_elements() == 0) return Error::success();
  if (how == Combine::kUpdate) {
    for (size_t i = 0; i < slices.at.size(); ++i) {
      for (int64_t k = 0; repeat && k < slices.length; ++k)
        CopyElements(out.dtype(), updates.raw(), At(out, slices.at[i] + k), 1);
      if (repeat) continue;
      CopyElements(out.dtype(), At(updates, i * slices.length), At(out, slices.at[i]),
                   slices.length);
    }
    return Error::success();
  }
  bool divides_by_zero = false;
  bool known = ForType(out.dtype(), ScatterTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    divides_by_zero = how == Combine::kDiv && HasZero<T>(updates);
    if (divides_by_zero) return true;
    for (size_t i = 0; i < slices.at.size(); ++i) {
      CombineSlice(how, out.data<T>() + slices.at[i],
                   updates.data<T>() + (repeat ? 0 : i * slices.length), slices.length,
                   repeat ? 0 : 1);
    }
    return true;
  });
  if (divides_by_zero) return MakeError("integer division by zero");
  return known ? Error::success() : MakeError("no kernel for dtype {0}", DataTypeName(out.dtype()));
}

Error ScatterNdSlices(const Tensor& indices, const Tensor& updates, Combine how, Tensor& out) {
  if (out.rank() == 0 || indices.rank() == 0 || updates.rank() == 0)
    return MakeError(
        "indices, updates and the output must be at least vectors, got shapes {0}, {1} and {2}",
        DimsText(indices.dims()), DimsText(updates.dims()), DimsText(out.dims()));
  bool has_none = indices.num_elements() == 0 && updates.num_elements() == 0;
  bool has_all = indices.num_elements() > 0 && updates.num_elements() > 0 && out.num_elements() > 0;
  if (!has_none && !has_all)
    return MakeError(
        "indices, updates and the output must all have elements, or indices and updates must be "
        "empty, got shapes {0}, {1} and {2}",
        DimsText(indices.dims()), DimsText(updates.dims()), DimsText(out.dims()));
  bool is_vector = indices.rank() == 1 && (indices.dim(0) > 0 || out.dim(0) > 0);
  if (is_vector || (out.num_elements() > 0 && indices.dim(indices.rank() - 1) == 0))
    return MakeError(
        "indices must be at least a matrix, with rows of at least one element, for an output of "
        "shape {1}, got shape {0}",
        DimsText(indices.dims()), DimsText(out.dims()));
  return ScatterSlices(indices, updates, how, out);
}

namespace {

Expected<KernelFn> MakeScatterNd(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(2)));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    bool strings = out->dtype() == proto::DT_STRING;
    if (!strings) std::memset(out->raw(), 0, out->byte_size());
    return ScatterNdSlices(ctx.input(0), ctx.input(1), strings ? Combine::kUpdate : Combine::kAdd,
                           *out);
  });
}

template <Combine how>
Expected<KernelFn> MakeTensorScatter(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    if (out->raw() != in.raw()) CopyElements(in.dtype(), in.raw(), out->raw(), in.num_elements());
    return ScatterNdSlices(ctx.input(1), ctx.input(2), how, *out);
  });
}

GRAPNEL_CPU_KERNEL("ScatterNd", MakeScatterNd);
GRAPNEL_CPU_KERNEL("ScatterNdNonAliasingAdd", MakeTensorScatter<Combine::kAdd>);
GRAPNEL_CPU_KERNEL("TensorScatterUpdate", MakeTensorScatter<Combine::kUpdate>);
GRAPNEL_CPU_KERNEL("TensorScatterAdd", MakeTensorScatter<Combine::kAdd>);
GRAPNEL_CPU_KERNEL("TensorScatterSub", MakeTensorScatter<Combine::kSub>);
GRAPNEL_CPU_KERNEL("TensorScatterMin", MakeTensorScatter<Combine::kMin>);
GRAPNEL_CPU_KERNEL("TensorScatterMax", MakeTensorScatter<Combine::kMax>);

}  // namespace
}  // namespace grapnel
