// Sums and maxima of sparse tensors over some axes, with dense or sparse results; SparseSoftmax.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/epilogue.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

// The kept axes, and the elements grouped by their indices on the kept axes.
struct Groups {
  std::vector<int64_t> kept;    // axes
  Dims dims;                    // of the result
  std::vector<int64_t> order;   // the elements, sorted by the kept axes and then the others
  std::vector<int64_t> begins;  // start of each group in `order`, and the end
};

Expected<Groups> GroupBy(const Tensor& indices, llvm::ArrayRef<int64_t> dims, const Tensor& axes,
                         bool keep_dims) {
  int64_t depth = static_cast<int64_t>(dims.size());
  if (axes.rank() > 1)
    return MakeError("reduction_axes must be a scalar or a vector, got shape {0}",
                     DimsText(axes.dims()));
  std::vector<bool> reduced(depth);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    int64_t axis = axes.IntAt(i);
    if (axis < -depth || axis >= depth)
      return MakeError("invalid reduction dimension {0}, for input with {1} dimensions", axis,
                       depth);
    reduced[axis < 0 ? axis + depth : axis] = true;
  }
  Groups groups;
  std::vector<int64_t> columns;
  for (int64_t d = 0; d < depth; ++d) {
    if (!reduced[d]) groups.kept.push_back(d);
    if (!reduced[d] || keep_dims) groups.dims.push_back(reduced[d] ? 1 : dims[d]);
  }
  columns = groups.kept;
  for (int64_t d = 0; d < depth; ++d) {
    if (reduced[d]) columns.push_back(d);
  }
  const int64_t* at = indices.data<int64_t>();
  groups.order.resize(indices.dim(0));
  std::iota(groups.order.begin(), groups.order.end(), 0);
  std::stable_sort(groups.order.begin(), groups.order.end(), [&](int64_t a, int64_t b) {
    for (int64_t d : columns) {
      if (at[a * depth + d] != at[b * depth + d]) return at[a * depth + d] < at[b * depth + d];
    }
    return false;
  });
  for (size_t i = 0; i < groups.order.size(); ++i) {
    bool same = i > 0 && llvm::all_of(groups.kept, [&](int64_t d) {
                  return at[groups.order[i] * depth + d] == at[groups.order[i - 1] * depth + d];
                });
    if (!same) groups.begins.push_back(static_cast<int64_t>(i));
  }
  groups.begins.push_back(static_cast<int64_t>(groups.order.size()));
  return groups;
}

template <typename T, bool kMaximum>
T Reduced(const Tensor& values, llvm::ArrayRef<int64_t> order) {
  if constexpr (kMaximum) {
    T most = values.data<T>()[order[0]];
    for (int64_t i : order) most = std::max(most, values.data<T>()[i]);
    return most;
  } else {
    ComputeType<T> sum(0);
    for (int64_t i : order) sum = AddOf(sum, static_cast<ComputeType<T>>(values.data<T>()[i]));
    return static_cast<T>(sum);
  }
}

template <typename T, bool kMaximum, bool kSparse>
Error Reduce(KernelContext& ctx, bool keep_dims) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(2)));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(2)));
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, false));
  ASSIGN_OR_RETURN(Groups groups, GroupBy(indices, dims, ctx.input(3), keep_dims));
  int64_t count = static_cast<int64_t>(groups.begins.size()) - 1, depth = indices.dim(1);
  int64_t rank = static_cast<int64_t>(groups.dims.size());
  Dims strides = RowMajorStrides(groups.dims);
  Tensor* out = nullptr;
  if (kSparse) {
    ASSIGN_OR_RETURN(Tensor * places, ctx.Allocate(0, {count, rank}));
    std::fill_n(places->data<int64_t>(), places->num_elements(), 0);
    ASSIGN_OR_RETURN(out, ctx.Allocate(1, {count}));
    ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {rank}));
    std::copy(groups.dims.begin(), groups.dims.end(), shape->data<int64_t>());
    for (int64_t g = 0; g < count; ++g) {
      const int64_t* from = indices.data<int64_t>() + groups.order[groups.begins[g]] * depth;
      for (size_t k = 0; k < groups.kept.size(); ++k)
        places->data<int64_t>()[g * rank + (keep_dims ? groups.kept[k] : k)] = from[groups.kept[k]];
    }
  } else {
    // A result that no element contributes to is 0, also for a maximum.
    ASSIGN_OR_RETURN(out, ctx.Allocate(0, groups.dims));
    std::fill_n(out->data<T>(), out->num_elements(), T(0));
  }
  llvm::ArrayRef<int64_t> order = groups.order;
  for (int64_t g = 0; g < count; ++g) {
    int64_t begin = groups.begins[g], at = g;
    if (!kSparse) {
      at = 0;
      const int64_t* from = indices.data<int64_t>() + order[begin] * depth;
      for (size_t k = 0; k < groups.kept.size(); ++k)
        at += from[groups.kept[k]] * strides[keep_dims ? groups.kept[k] : k];
    }
    out->data<T>()[at] =
        Reduced<T, kMaximum>(values, order.slice(begin, groups.begins[g + 1] - begin));
  }
  return Error::success();
}

template <typename Types, bool kMaximum, bool kSparse>
Expected<KernelFn> MakeReduce(const KernelSetup& setup) {
  KernelFn fn;
  bool keep = setup.node().GetBool("keep_dims");
  ForType(setup.input_type(1), Types(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [keep](KernelContext& ctx) { return Reduce<T, kMaximum, kSparse>(ctx, keep); };
    return true;
  });
  return fn;
}

// Softmax of each row of the last dimension: consecutive elements that differ only in the last
// index. Absent elements count as minus infinity.
template <typename T>
Error SparseSoftmax(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(2)));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(2)));
  if (dims.size() < 2)
    return MakeError("the input should have rank >= 2, but received shape {0}", DimsText(dims));
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, false));
  using Compute = ComputeType<T>;
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, values.dims()));
  const T* x = values.data<T>();
  const int64_t* at = indices.data<int64_t>();
  int64_t count = indices.dim(0), depth = indices.dim(1);
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count &&
           std::equal(at + begin * depth, at + begin * depth + depth - 1, at + end * depth))
      ++end;
    Compute most = static_cast<Compute>(*std::max_element(x + begin, x + end)), sum(0);
    for (int64_t i = begin; i < end; ++i) sum += std::exp(static_cast<Compute>(x[i]) - most);
    for (int64_t i = begin; i < end; ++i)
      out->data<T>()[i] = static_cast<T>(std::exp(static_cast<Compute>(x[i]) - most) / sum);
  }
  return Error::success();
}

using SoftmaxTypes = TypeList<float, double, Eigen::half>;

Expected<KernelFn> MakeSoftmax(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.input_type(1), SoftmaxTypes(), [&](auto tag) {
    fn = [](KernelContext& ctx) { return SparseSoftmax<typename decltype(tag)::type>(ctx); };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("SparseReduceSum", (MakeReduce<NumberTypes, false, false>),
                   OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("SparseReduceSumSparse", (MakeReduce<NumberTypes, false, true>),
                   OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("SparseReduceMax", (MakeReduce<RealTypes, true, false>),
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("SparseReduceMaxSparse", (MakeReduce<RealTypes, true, true>),
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("SparseSoftmax", MakeSoftmax, OfTypes("T", DataTypesOf(SoftmaxTypes())));

}  // namespace
}  // namespace grapnel
