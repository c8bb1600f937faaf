// RaggedRange: several concatenated ranges and their splits.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

// Returns the number of values in [start, limit) with step `delta`.
template <typename T>
Expected<int64_t> RangeSize(T start, T limit, T delta) {
  if (delta == T(0)) return MakeError("deltas must not be 0");
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(start) || std::isnan(limit) || std::isnan(delta))
      return MakeError("starts, limits and deltas must be numbers, one is NaN");
  }
  if ((delta > T(0) && !(start < limit)) || (delta < T(0) && !(start > limit))) return 0;
  if constexpr (std::is_integral_v<T>) {
    // Unsigned, so that any distance fits.
    uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step =
        delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    uint64_t size = (distance - 1) / step + 1;
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return MakeError("a range of {0} numbers is too large", size);
    return static_cast<int64_t>(size);
  } else {
    // Each operation rounds to T, as in TensorFlow; the rounding can add or remove an element.
    double size = std::ceil(std::abs(static_cast<double>((limit - start) / delta)));
    if (!(size < 9e18)) return MakeError("a range of {0} numbers is too large", size);
    return static_cast<int64_t>(size);
  }
}

template <typename T, typename Splits>
Error RaggedRange(KernelContext& ctx) {
  static constexpr const char* kNames[] = {"starts", "limits", "deltas"};
  int64_t rows = 1;
  bool scalars = true;
  for (int i = 0; i < 3; ++i) {
    const Tensor& in = ctx.input(i);
    if (in.rank() > 1)
      return MakeError("{0} must be a scalar or a vector, got shape {1}", kNames[i],
                       DimsText(in.dims()));
    if (in.rank() == 0) continue;
    if (!scalars && in.dim(0) != rows)
      return MakeError(
          "starts, limits and deltas that are vectors must have the same length, not {0} and {1}",
          rows, in.dim(0));
    rows = in.dim(0);
    scalars = false;
  }
  auto at = [&](int input, int64_t row) {
    const Tensor& in = ctx.input(input);
    return in.data<T>()[in.rank() == 0 ? 0 : row];
  };
  ASSIGN_OR_RETURN(Tensor * splits, ctx.Allocate(0, {rows + 1}));
  Splits* split = splits->data<Splits>();
  split[0] = 0;
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    ASSIGN_OR_RETURN(int64_t size, RangeSize(at(0, row), at(1, row), at(2, row)));
    if (size > static_cast<int64_t>(std::numeric_limits<Splits>::max()) - total)
      return MakeError("ranges of more than {0} numbers do not fit the dtype of the splits",
                       std::numeric_limits<Splits>::max());
    total += size;
    split[row + 1] = static_cast<Splits>(total);
  }
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(1, {total}));
  T* out = values->data<T>();
  for (int64_t row = 0; row < rows; ++row) {
    T value = at(0, row), delta = at(2, row);
    for (int64_t i = split[row]; i < split[row + 1]; ++i) {
      out[i] = value;
      value = AddOf(value, delta);
    }
  }
  return Error::success();
}

using RangeTypes = TypeList<float, double, int32_t, int64_t>;

Expected<KernelFn> MakeRaggedRange(const KernelSetup& setup) {
  KernelFn fn;
  bool wide = setup.output_type(0) == proto::DT_INT64;
  ForType(setup.input_type(0), RangeTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [wide](KernelContext& ctx) {
      return wide ? RaggedRange<T, int64_t>(ctx) : RaggedRange<T, int32_t>(ctx);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("RaggedRange", MakeRaggedRange, OfTypes("T", DataTypesOf(RangeTypes())));

}  // namespace
}  // namespace grapnel
