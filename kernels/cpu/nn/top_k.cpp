// TopK, TopKV2 and ApproxTopK: the largest elements of each row and their indices.
#include <algorithm>
#include <numeric>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

using RowFn = void (*)(const void* row, int64_t n, int64_t k, bool sorted,
                       std::vector<int64_t>& order, void* values);

// The earlier of equal elements comes first, and NaN is larger than any number, so that the sort
// has a strict order.
template <typename T>
bool Precedes(T x, T y, int64_t x_at, int64_t y_at) {
  bool x_nan = x != x, y_nan = y != y;
  if (x_nan || y_nan) return x_nan && (!y_nan || x_at < y_at);
  return x > y || (x == y && x_at < y_at);
}

// `order` is scratch memory reused across rows.
template <typename T>
void TopOfRow(const void* data, int64_t n, int64_t k, bool sorted, std::vector<int64_t>& order,
              void* values) {
  const T* row = static_cast<const T*>(data);
  order.resize(n);
  std::iota(order.begin(), order.end(), 0);
  auto before = [row](int64_t a, int64_t b) { return Precedes(row[a], row[b], a, b); };
  if (k < n) std::nth_element(order.begin(), order.begin() + k, order.end(), before);
  if (sorted) std::sort(order.begin(), order.begin() + k, before);
  for (int64_t i = 0; i < k; ++i) static_cast<T*>(values)[i] = row[order[i]];
}

Error TopK(KernelContext& ctx, RowFn top, int64_t k, bool sorted) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 1) return MakeError("input must be at least a vector, got a scalar");
  int64_t n = in.dim(in.rank() - 1);
  if (k < 0) return MakeError("need k >= 0, got {0}", k);
  if (k > n) return MakeError("input must have at least k columns: it has {0}, k is {1}", n, k);
  Dims dims(in.dims().begin(), in.dims().end());
  dims.back() = k;
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, dims));
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(1, dims));
  if (values->num_elements() == 0) return Error::success();
  ctx.ParallelFor(in.num_elements() / n, 10.0 * n, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> order;
    for (int64_t row = begin; row < end; ++row) {
      top(At(in, row * n), n, k, sorted, order, At(*values, row * k));
      for (int64_t i = 0; i < k; ++i) {
        int64_t at = row * k + i;
        if (indices->dtype() == proto::DT_INT64)
          indices->data<int64_t>()[at] = order[i];
        else if (indices->dtype() == proto::DT_INT16)
          indices->data<int16_t>()[at] = static_cast<int16_t>(order[i]);
        else
          indices->data<int32_t>()[at] = static_cast<int32_t>(order[i]);
      }
    }
  });
  return Error::success();
}

// k is an attribute of TopK and an input of TopKV2.
Expected<KernelFn> MakeTopK(const KernelSetup& setup) {
  RowFn top = ForType(setup.input_type(0), RealTypes(),
                      [](auto tag) -> RowFn { return &TopOfRow<typename decltype(tag)::type>; });
  if (!top) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  bool sorted = setup.node().GetBool("sorted", true);
  int64_t k = setup.node().GetInt("k");
  return KernelFn([top, sorted, k](KernelContext& ctx) -> Error {
    if (ctx.num_inputs() < 2) return TopK(ctx, top, k, sorted);
    if (ctx.input(1).num_elements() != 1) return MakeError("k must have one element");
    return TopK(ctx, top, ctx.input(1).IntAt(0), sorted);
  });
}

// TensorFlow's CPU kernel is exact, so recall_target and related attributes are ignored.
Expected<KernelFn> MakeApproxTopK(const KernelSetup& setup) {
  int64_t axis = setup.node().GetInt("reduction_dimension", -1);
  if (axis != -1) return MakeError("reduction_dimension must be -1 on a CPU, got {0}", axis);
  if (!setup.node().GetBool("is_max_k", true)) return MakeError("is_max_k must be true on a CPU");
  return MakeTopK(setup);
}

GRAPNEL_CPU_KERNEL("TopK", MakeTopK, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("TopKV2", MakeTopK, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("ApproxTopK", MakeApproxTopK, OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
