// Searches by order: LowerBound, UpperBound, Bucketize, NthElement, InTopK, InTopKV2.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/indices.h"
#include "kernels/common/kernel_of.h"

namespace grapnel {
namespace {

// Counts, for each value of a row, the row's sorted inputs that are less (lower) or not greater
// (upper).
template <bool kUpper>
Error Bound(KernelContext& ctx) {
  const Tensor &sorted = ctx.input(0), &values = ctx.input(1);
  if (sorted.rank() != 2 || values.rank() != 2 || sorted.dim(0) != values.dim(0))
    return MakeError("expected two matrices with the same number of rows, got shapes {0} and {1}",
                     DimsText(sorted.dims()), DimsText(values.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, values.dims()));
  bool known = ForType(sorted.dtype(), RealTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t width = sorted.dim(1), columns = values.dim(1);
    ctx.ParallelFor(values.dim(0), 20.0 * columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * columns; i < end * columns; ++i) {
        const T* row = sorted.data<T>() + i / columns * width;
        const T* place = kUpper ? std::upper_bound(row, row + width, values.data<T>()[i])
                                : std::lower_bound(row, row + width, values.data<T>()[i]);
        PutIndex(*out, i, place - row);
      }
    });
    return true;
  });
  return known ? Error::success()
               : MakeError("no kernel for dtype {0}", DataTypeName(sorted.dtype()));
}

using BucketTypes = TypeList<float, double, int32_t, int64_t>;

Expected<KernelFn> MakeBucketize(const KernelSetup& setup) {
  std::optional<AttrView> attr = setup.node().Attr("boundaries");
  std::vector<float> bounds =
      attr ? attr->AsFloats().value_or(std::vector<float>()) : std::vector<float>();
  if (!std::is_sorted(bounds.begin(), bounds.end()))
    return MakeError("boundaries must be sorted from small to large");
  return KernelFn([bounds = std::move(bounds)](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    bool known = ForType(in.dtype(), BucketTypes(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      ctx.ParallelFor(in.num_elements(), 10, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          auto place = std::upper_bound(bounds.begin(), bounds.end(), in.data<T>()[i]);
          out->data<int32_t>()[i] = static_cast<int32_t>(place - bounds.begin());
        }
      });
      return true;
    });
    return known ? Error::success()
                 : MakeError("no kernel for dtype {0}", DataTypeName(in.dtype()));
  });
}

// Returns the n-th smallest or n-th largest element of each row.
Expected<KernelFn> MakeNthElement(const KernelSetup& setup) {
  bool reverse = setup.node().GetBool("reverse");
  return KernelFn([reverse](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &nth = ctx.input(1);
    if (nth.rank() != 0)
      return MakeError("n must be a scalar, got shape {0}", DimsText(nth.dims()));
    if (in.rank() < 1) return MakeError("input must be at least a vector, got a scalar");
    int64_t width = in.dim(in.rank() - 1), n = nth.IntAt(0);
    if (n < 0 || n >= width) return MakeError("n must be in [0, {0}), got {1}", width, n);
    if (reverse) n = width - 1 - n;
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims().drop_back()));
    bool known = ForType(in.dtype(), RealTypes(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      ctx.ParallelFor(out->num_elements(), 5.0 * width, [&](int64_t begin, int64_t end) {
        std::vector<T> row;
        for (int64_t i = begin; i < end; ++i) {
          row.assign(in.data<T>() + i * width, in.data<T>() + (i + 1) * width);
          // NaNs sort last; otherwise `before` would not be a strict weak order.
          auto before = [](T a, T b) { return a < b || (a == a && b != b); };
          std::nth_element(row.begin(), row.begin() + n, row.end(), before);
          out->data<T>()[i] = row[n];
        }
      });
      return true;
    });
    return known ? Error::success()
                 : MakeError("no kernel for dtype {0}", DataTypeName(in.dtype()));
  });
}

// True if fewer than k predictions are greater than the target's (ties do not count). False if the
// target is not a valid class or the row has a value that is not finite.
bool IsInTop(const float* row, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(row[target])) return false;
  int64_t larger = 0;
  for (int64_t i = 0; i < classes; ++i) {
    if (!std::isfinite(row[i])) return false;
    larger += row[i] > row[target];
  }
  return larger < k;
}

Error InTopK(KernelContext& ctx, int64_t k) {
  const Tensor &predictions = ctx.input(0), &targets = ctx.input(1);
  if (predictions.rank() != 2)
    return MakeError("predictions must be a matrix, got shape {0}", DimsText(predictions.dims()));
  if (targets.rank() != 1 || targets.dim(0) != predictions.dim(0))
    return MakeError("targets must be a vector of {0} elements, got shape {1}", predictions.dim(0),
                     DimsText(targets.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, targets.dims()));
  int64_t classes = predictions.dim(1);
  ctx.ParallelFor(targets.num_elements(), 1.0 * classes, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      out->data<bool>()[i] =
          IsInTop(predictions.data<float>() + i * classes, classes, targets.IntAt(i), k);
  });
  return Error::success();
}

// k is an attribute of InTopK and an input of InTopKV2.
Expected<KernelFn> MakeInTopK(const KernelSetup& setup) {
  int64_t k = setup.node().GetInt("k");
  return KernelFn([k](KernelContext& ctx) { return InTopK(ctx, k); });
}
Error InTopKV2(KernelContext& ctx) {
  if (ctx.input(2).rank() != 0)
    return MakeError("k must be a scalar, got shape {0}", DimsText(ctx.input(2).dims()));
  return InTopK(ctx, ctx.input(2).IntAt(0));
}

GRAPNEL_CPU_KERNEL("LowerBound", KernelOf<Bound<false>>, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("UpperBound", KernelOf<Bound<true>>, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("Bucketize", MakeBucketize, OfTypes("T", DataTypesOf(BucketTypes())));
GRAPNEL_CPU_KERNEL("NthElement", MakeNthElement, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("InTopK", MakeInTopK);
GRAPNEL_CPU_KERNEL("InTopKV2", KernelOf<InTopKV2>);

}  // namespace
}  // namespace grapnel
