// QuantizeAndDequantize in all versions: rounds each element to the values of a small integer type,
// with one scale for the tensor or per slice along an axis. 0 stays exact. Also the gradient of
// version 4, which passes through within the range.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

struct Rounding {
  bool is_signed, is_given, half_up, narrow;
  int64_t axis;

  Rounding(const Node& node, bool given_by_default)
      : is_signed(node.GetBool("signed_input", true)),
        is_given(node.GetBool("range_given", given_by_default)),
        half_up(node.GetString("round_mode", "HALF_TO_EVEN") == "HALF_UP"),
        narrow(node.GetBool("narrow_range")),
        axis(node.GetInt("axis", -1)) {}
};

// Slices along an axis: element i belongs to slice i / inner % count.
struct Slices {
  int64_t count = 1, inner = 1;
};

Expected<Slices> SlicesOf(const Tensor& in, int64_t axis) {
  if (axis < -1 || axis >= in.rank())
    return MakeError("axis must be in [-1, {0}), got {1}", in.rank(), axis);
  if (axis == -1) return Slices{1, std::max<int64_t>(in.num_elements(), 1)};
  int64_t inner = NumElements(in.dims().drop_front(axis + 1)).value_or(0);
  return Slices{in.dim(axis), std::max<int64_t>(inner, 1)};
}

template <typename T>
struct Range {
  T low = 0, high = 0;
  T scale = 0, inverse = 0;
};

// Returns one range per slice: the given one, or from the smallest to the largest element.
template <typename T>
Expected<std::vector<Range<T>>> ReadRanges(const Tensor& in, const Tensor& low, const Tensor& high,
                                           bool is_given, const Slices& slices) {
  std::vector<Range<T>> ranges(slices.count);
  if (!is_given) {
    std::vector<bool> begun(slices.count);
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      int64_t k = i / slices.inner % slices.count;
      T x = in.data<T>()[i];
      ranges[k].low = begun[k] ? std::min(ranges[k].low, x) : x;
      ranges[k].high = begun[k] ? std::max(ranges[k].high, x) : x;
      begun[k] = true;
    }
    return ranges;
  }
  for (const Tensor* end : {&low, &high}) {
    if (end->num_elements() != slices.count)
      return MakeError("input_min and input_max must have {0} elements, got shapes {1} and {2}",
                       slices.count, DimsText(low.dims()), DimsText(high.dims()));
  }
  for (int64_t k = 0; k < slices.count; ++k) {
    ranges[k].low = low.data<T>()[k];
    ranges[k].high = high.data<T>()[k];
  }
  return ranges;
}

// Moves one end so that 0 is exact.
template <typename T>
void SetScale(const Rounding& rounding, int64_t bits, Range<T>& range) {
  double half = std::ldexp(1.0, static_cast<int>(bits) - 1);
  T lowest = static_cast<T>(rounding.is_signed ? -half + rounding.narrow : 0);
  T highest = static_cast<T>(rounding.is_signed ? half - 1 : 2 * half - 1);
  constexpr T kNone = std::numeric_limits<T>::max();
  T scale_of_low = lowest * range.low > 0 ? lowest / range.low : kNone;
  T scale_of_high = highest * range.high > 0 ? highest / range.high : kNone;
  if (scale_of_low < scale_of_high) {
    range.scale = scale_of_low;
    range.inverse = range.low / lowest;
    range.high = highest * range.inverse;
  } else {
    range.scale = scale_of_high;
    range.inverse = range.high / highest;
    range.low = lowest * range.inverse;
  }
}

template <typename T>
Error Round(KernelContext& ctx, const Rounding& rounding, int64_t bits, const Tensor& low,
            const Tensor& high) {
  const Tensor& in = ctx.input(0);
  if (bits < 1 || bits > 62) return MakeError("num_bits must be in [1, 62], got {0}", bits);
  ASSIGN_OR_RETURN(Slices slices, SlicesOf(in, rounding.axis));
  ASSIGN_OR_RETURN(std::vector<Range<T>> ranges,
                   ReadRanges<T>(in, low, high, rounding.is_given, slices));
  for (const Tensor* end : {&low, &high}) {
    if (rounding.is_given && rounding.axis == -1 && end->rank() != 0)
      return MakeError("input_min and input_max must be scalars, got shape {0}",
                       DimsText(end->dims()));
    if (rounding.is_given && rounding.axis != -1 && end->rank() != 1)
      return MakeError("input_min and input_max must be vectors if there is an axis, got shape {0}",
                       DimsText(end->dims()));
  }
  for (Range<T>& range : ranges) {
    if (rounding.is_given && rounding.axis == -1 && !(range.low <= range.high))
      return MakeError("input_min must be at most input_max, got {0} and {1}", range.low,
                       range.high);
    SetScale(rounding, bits, range);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  const T* x = in.data<T>();
  T* y = out->data<T>();
  ctx.ParallelFor(in.num_elements(), 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Range<T>& range = ranges[i / slices.inner % slices.count];
      T value = rounding.is_given ? std::max(std::min(x[i], range.high), range.low) : x[i];
      value *= range.scale;
      T level = rounding.half_up ? std::floor(value + T(0.5)) : std::nearbyint(value);
      y[i] = level * range.inverse;
    }
  });
  return Error::success();
}

// Elements outside the range have gradient 0; the gradients of input_min and input_max are always
// 0.
template <typename T>
Error PassInside(KernelContext& ctx, int64_t axis) {
  const Tensor &grads = ctx.input(0), &in = ctx.input(1);
  if (grads.dims() != in.dims())
    return MakeError("gradients must have shape {0}, got {1}", DimsText(in.dims()),
                     DimsText(grads.dims()));
  ASSIGN_OR_RETURN(Slices slices, SlicesOf(in, axis));
  ASSIGN_OR_RETURN(std::vector<Range<T>> ranges,
                   ReadRanges<T>(in, ctx.input(2), ctx.input(3), true, slices));
  for (int end : {2, 3}) {
    if (ctx.input(end).rank() != (axis == -1 ? 0 : 1))
      return MakeError("input_min and input_max must be {0}, got shape {1}",
                       axis == -1 ? "scalars" : "vectors if there is an axis",
                       DimsText(ctx.input(end).dims()));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    const Range<T>& range = ranges[i / slices.inner % slices.count];
    T x = in.data<T>()[i];
    out->data<T>()[i] = x >= range.low && x <= range.high ? grads.data<T>()[i] : T(0);
  }
  for (int end : {1, 2}) {
    ASSIGN_OR_RETURN(Tensor * zero, ctx.Allocate(end, ctx.input(end + 1).dims()));
    std::fill_n(zero->data<T>(), zero->num_elements(), T(0));
  }
  return Error::success();
}

// --- The kernels

Error RoundAny(KernelContext& ctx, const Rounding& rounding, int64_t bits, const Tensor& low,
               const Tensor& high) {
  return ctx.input(0).dtype() == proto::DT_DOUBLE ? Round<double>(ctx, rounding, bits, low, high)
                                                  : Round<float>(ctx, rounding, bits, low, high);
}

Expected<Tensor> ScalarOf(DataType dtype, float value) {
  ASSIGN_OR_RETURN(Tensor scalar, Tensor::Allocate(dtype, {}));
  if (dtype == proto::DT_DOUBLE)
    *scalar.data<double>() = static_cast<double>(value);
  else
    *scalar.data<float>() = value;
  return scalar;
}

// Version 1 has the range as attributes.
Expected<KernelFn> MakeOfAttrs(const KernelSetup& setup) {
  const Node& node = setup.node();
  DataType dtype = setup.input_type(0);
  ASSIGN_OR_RETURN(Tensor low, ScalarOf(dtype, node.GetFloat("input_min", 0)));
  ASSIGN_OR_RETURN(Tensor high, ScalarOf(dtype, node.GetFloat("input_max", 0)));
  return KernelFn([rounding = Rounding(node, false), bits = node.GetInt("num_bits", 8), low,
                   high](KernelContext& ctx) { return RoundAny(ctx, rounding, bits, low, high); });
}

Expected<KernelFn> Make(const KernelSetup& setup) {
  Rounding rounding(setup.node(), false);
  return KernelFn([rounding, bits = setup.node().GetInt("num_bits", 8)](KernelContext& ctx) {
    return RoundAny(ctx, rounding, bits, ctx.input(1), ctx.input(2));
  });
}

// Version 3 has num_bits as an input.
Expected<KernelFn> MakeOfBits(const KernelSetup& setup) {
  return KernelFn([rounding = Rounding(setup.node(), true)](KernelContext& ctx) -> Error {
    const Tensor& bits = ctx.input(3);
    if (bits.num_elements() != 1)
      return MakeError("num_bits must have one element, got shape {0}", DimsText(bits.dims()));
    return RoundAny(ctx, rounding, bits.IntAt(0), ctx.input(1), ctx.input(2));
  });
}

Expected<KernelFn> MakeGradient(const KernelSetup& setup) {
  bool is_double = setup.input_type(0) == proto::DT_DOUBLE;
  return KernelFn([axis = setup.node().GetInt("axis", -1), is_double](KernelContext& ctx) {
    return is_double ? PassInside<double>(ctx, axis) : PassInside<float>(ctx, axis);
  });
}

#define GRAPNEL_ROUNDING_KERNEL(op, make) \
  GRAPNEL_CPU_KERNEL(op, make, OfTypes("T", DataTypesOf(TypeList<float, double>())))
GRAPNEL_ROUNDING_KERNEL("QuantizeAndDequantize", MakeOfAttrs);
GRAPNEL_ROUNDING_KERNEL("QuantizeAndDequantizeV2", Make);
GRAPNEL_ROUNDING_KERNEL("QuantizeAndDequantizeV3", MakeOfBits);
GRAPNEL_ROUNDING_KERNEL("QuantizeAndDequantizeV4", Make);
GRAPNEL_ROUNDING_KERNEL("QuantizeAndDequantizeV4Grad", MakeGradient);

}  // namespace
}  // namespace grapnel
