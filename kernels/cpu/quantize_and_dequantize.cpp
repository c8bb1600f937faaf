// QuantizeAndDequantizeV2: rounds each element to what a small integer could hold, with one scale
// for the whole tensor. 0 stays 0.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

struct Rounding {
  bool is_signed, is_given, half_up;
  double lowest, highest;  // of the integers
};

Expected<Rounding> ReadRounding(const Node& node) {
  int64_t bits = node.GetInt("num_bits", 8), axis = node.GetInt("axis", -1);
  if (bits < 1 || bits > 62) return MakeError("num_bits must be in [1, 62], got {0}", bits);
  if (axis != -1) return MakeError("one scale for each slice of axis {0} is not supported", axis);
  Rounding rounding;
  rounding.is_signed = node.GetBool("signed_input", true);
  rounding.is_given = node.GetBool("range_given");
  rounding.half_up = node.GetString("round_mode", "HALF_TO_EVEN") == "HALF_UP";
  double half = std::ldexp(1.0, static_cast<int>(bits) - 1);
  bool narrow = node.GetBool("narrow_range");
  rounding.lowest = rounding.is_signed ? -half + narrow : 0;
  rounding.highest = rounding.is_signed ? half - 1 : 2 * half - 1;
  return rounding;
}

template <typename T>
Error Run(KernelContext& ctx, const Rounding& rounding) {
  const Tensor& in = ctx.input(0);
  int64_t count = in.num_elements();
  const T* x = in.data<T>();
  T low = 0, high = 0;
  if (rounding.is_given) {
    if (ctx.input(1).num_elements() != 1 || ctx.input(2).num_elements() != 1)
      return MakeError("input_min and input_max must be of one element each");
    low = *ctx.input(1).data<T>();
    high = *ctx.input(2).data<T>();
    if (low > high) return MakeError("input_min {0} is above input_max {1}", low, high);
  } else if (count > 0) {
    low = *std::min_element(x, x + count);
    high = *std::max_element(x, x + count);
  }
  T lowest = static_cast<T>(rounding.lowest), highest = static_cast<T>(rounding.highest);
  constexpr T kNone = std::numeric_limits<T>::max();
  T scale_of_low = lowest * low > 0 ? lowest / low : kNone;
  T scale_of_high = highest * high > 0 ? highest / high : kNone;
  T scale, inverse;
  if (scale_of_low < scale_of_high) {
    scale = scale_of_low;
    inverse = low / lowest;
    high = highest * inverse;
  } else {
    scale = scale_of_high;
    inverse = high / highest;
    low = lowest * inverse;
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  T* y = out->data<T>();
  for (int64_t i = 0; i < count; ++i) {
    T value = rounding.is_given ? std::min(std::max(x[i], low), high) : x[i];
    value *= scale;
    y[i] = (rounding.half_up ? std::floor(value + T(0.5)) : std::nearbyint(value)) * inverse;
  }
  return Error::success();
}

Expected<KernelFn> Make(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Rounding rounding, ReadRounding(setup.node()));
  bool is_double = setup.input_type(0) == proto::DT_DOUBLE;
  return KernelFn([rounding, is_double](KernelContext& ctx) {
    return is_double ? Run<double>(ctx, rounding) : Run<float>(ctx, rounding);
  });
}

GRAPNEL_CPU_KERNEL("QuantizeAndDequantizeV2", "T",
                   (std::vector<DataType>{proto::DT_FLOAT, proto::DT_DOUBLE}),
                   KernelCost::kElements, Make);

}  // namespace
}  // namespace grapnel
