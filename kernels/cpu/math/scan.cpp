// Cumsum, Cumprod and CumulativeLogsumexp along one axis.
#include <cmath>
#include <limits>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/rounded_half.h"

namespace grapnel {
namespace {

struct ScanView {
  int64_t outer = 1, size = 1, inner = 1;
  bool exclusive = false, reverse = false;
};
// Scans the columns [first, last) of one slab. Rows follow one another along the axis, so that the
// loop over columns is contiguous.
using ScanFn = void (*)(const void* in, void* out, const ScanView& view, int64_t outer,
                        int64_t first, int64_t last);

// half and bfloat16 round after each step, as in TensorFlow.
struct RunningSum {
  static constexpr bool kRoundsSteps = true;
  using Types = NumberTypes;
  template <typename T>
  static T Start() {
    return T(0);
  }
  template <typename T>
  static T Join(T before, T x) {
    return AddOf(before, x);
  }
};
struct RunningProduct {
  static constexpr bool kRoundsSteps = true;
  using Types = NumberTypes;
  template <typename T>
  static T Start() {
    return T(1);
  }
  template <typename T>
  static T Join(T before, T x) {
    return MulOf(before, x);
  }
};
// log(exp(before) + exp(x)) without overflow. A NaN after a number is treated as that number, as in
// TensorFlow's minimum and maximum.
struct RunningLogSumExp {
  static constexpr bool kRoundsSteps = false;
  using Types = FloatTypes;
  template <typename T>
  static T Start() {
    return -std::numeric_limits<T>::infinity();
  }
  template <typename T>
  static T Join(T before, T x) {
    T low = x < before ? x : before, high = before < x ? x : before;
    return high == Start<T>() ? high : high + std::log1p(std::exp(low - high));
  }
};

template <typename T, typename Op>
void ScanSlab(const void* pin, void* pout, const ScanView& view, int64_t outer, int64_t first,
              int64_t last) {
  using Acc = std::conditional_t<kIsSmallFloat<T>, float, T>;
  int64_t base = outer * view.size * view.inner, n = last - first;
  std::vector<Acc> acc(n, Op::template Start<Acc>());
  for (int64_t step = 0; step < view.size; ++step) {
    int64_t at = base + (view.reverse ? view.size - 1 - step : step) * view.inner + first;
    const T* in = static_cast<const T*>(pin) + at;
    T* out = static_cast<T*>(pout) + at;
    for (int64_t j = 0; j < n; ++j) {
      Acc before = acc[j], x = static_cast<Acc>(in[j]);
      acc[j] = Op::Join(before, x);
      if constexpr (kIsSmallFloat<T> && Op::kRoundsSteps) acc[j] = RoundedTo<T>(acc[j]);
      out[j] = static_cast<T>(view.exclusive ? before : acc[j]);
    }
  }
}

template <typename Op>
Expected<KernelFn> MakeScan(const KernelSetup& setup) {
  ScanFn scan = ForType(setup.input_type(0), typename Op::Types(), [](auto tag) -> ScanFn {
    return &ScanSlab<typename decltype(tag)::type, Op>;
  });
  if (!scan) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  bool exclusive = setup.node().GetBool("exclusive"), reverse = setup.node().GetBool("reverse");
  return KernelFn([=](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (ctx.input(1).num_elements() != 1) {
      return MakeError("axis must have one element, got shape {0}", DimsText(ctx.input(1).dims()));
    }
    ASSIGN_OR_RETURN(int axis, AxisIn(ctx.input(1).IntAt(0), in.rank()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    ScanView view;
    view.exclusive = exclusive;
    view.reverse = reverse;
    for (int d = 0; d < in.rank(); ++d)
      (d < axis ? view.outer : d == axis ? view.size : view.inner) *= in.dim(d);
    if (in.num_elements() == 0) return Error::success();
    if (view.outer > 1) {
      ctx.ParallelFor(view.outer, 1.0 * view.size * view.inner, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) scan(in.raw(), out->raw(), view, i, 0, view.inner);
      });
    } else {
      ctx.ParallelFor(view.inner, 1.0 * view.size, [&](int64_t begin, int64_t end) {
        scan(in.raw(), out->raw(), view, 0, begin, end);
      });
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("Cumsum", MakeScan<RunningSum>, OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("Cumprod", MakeScan<RunningProduct>, OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("CumulativeLogsumexp", MakeScan<RunningLogSumExp>,
                   OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
