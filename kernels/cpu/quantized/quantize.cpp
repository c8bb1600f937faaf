// QuantizeV2 and Dequantize: floats to the quantized dtypes and back, with one range, or one per
// slice of an axis.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/quantized/quantized_number.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

enum class Mode { kMinCombined, kMinFirst, kScaled };

struct QuantizeAttrs {
  Mode mode;
  bool half_to_even = false, narrow = false;
  bool is_constant = false;  // the tensor is constant
  int64_t axis = -1;
  float least_range = 0.01f;
};

Expected<QuantizeAttrs> ReadAttrs(const Node& node) {
  QuantizeAttrs attrs;
  std::string mode = node.GetString("mode", "MIN_COMBINED");
  if (mode == "MIN_COMBINED")
    attrs.mode = Mode::kMinCombined;
  else if (mode == "MIN_FIRST")
    attrs.mode = Mode::kMinFirst;
  else if (mode == "SCALED")
    attrs.mode = Mode::kScaled;
  else
    return MakeError("mode '{0}' is not MIN_COMBINED, MIN_FIRST or SCALED", mode);
  std::string round = node.GetString("round_mode", "HALF_AWAY_FROM_ZERO");
  if (round != "HALF_AWAY_FROM_ZERO" && round != "HALF_TO_EVEN")
    return MakeError("round_mode '{0}' is not HALF_AWAY_FROM_ZERO or HALF_TO_EVEN", round);
  attrs.half_to_even = round == "HALF_TO_EVEN";
  if (attrs.half_to_even && attrs.mode != Mode::kScaled)
    return MakeError("round_mode HALF_TO_EVEN is for mode SCALED only, not {0}", mode);
  attrs.narrow = node.GetBool("narrow_range");
  attrs.axis = node.GetInt("axis", -1);
  if (attrs.axis < -1) return MakeError("axis must be at least -1, got {0}", attrs.axis);
  attrs.least_range = node.GetFloat("ensure_minimum_range", 0.01f);
  return attrs;
}

template <typename T>
constexpr float kLowest = static_cast<float>(std::numeric_limits<T>::lowest());
template <typename T>
constexpr float kHighest = static_cast<float>(std::numeric_limits<T>::max());
template <typename T>
constexpr double kSteps = static_cast<double>(int64_t{1} << (8 * sizeof(T)));
// The offset between a T and a level that counts from 0: half the number of values if T is signed.
template <typename T>
constexpr float kHalfRange = std::is_signed_v<T> ? static_cast<float>(kSteps<T> / 2) : 0.0f;

// A tensor as [outer, slices, inner], with one range per slice.
struct Slices {
  int64_t outer = 1, count = 1, inner = 1;
};

Expected<Slices> SlicesOf(const KernelContext& ctx, int64_t axis) {
  const Tensor& in = ctx.input(0);
  Slices slices;
  if (axis >= in.rank())
    return MakeError("axis must be -1 or in [0, {0}) for shape {1}, got {2}", in.rank(),
                     DimsText(in.dims()), axis);
  if (axis < 0) {
    slices.inner = in.num_elements();
  } else {
    slices.outer = *NumElements(in.dims().take_front(axis));
    slices.count = in.dim(static_cast<int>(axis));
    slices.inner = *NumElements(in.dims().drop_front(axis + 1));
  }
  for (int i : {1, 2}) {
    bool fits = axis < 0 ? ctx.input(i).num_elements() == 1
                         : ctx.input(i).rank() == 1 && ctx.input(i).dim(0) == slices.count;
    if (!fits)
      return MakeError("min_range and max_range must {0}, got shape {1}",
                       axis < 0 ? "have one element each"
                                : llvm::formatv("be vectors of {0} elements", slices.count).str(),
                       DimsText(ctx.input(i).dims()));
  }
  return slices;
}

// Calls run(first element, elements, slice) for the parts of all slices.
template <typename F>
void ForSlices(KernelContext& ctx, const Slices& slices, double cost, F&& run) {
  int64_t total = slices.outer * slices.count * slices.inner;
  ctx.ParallelFor(total, cost, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t rest = slices.inner - begin % slices.inner, n = std::min(rest, end - begin);
      run(begin, n, begin / slices.inner % slices.count);
      begin += n;
    }
  });
}

// --- QuantizeV2

// Extends the range to contain 0 and to have the minimum width.
void Widen(float least, float& low, float& high) {
  low = std::min(0.0f, low);
  float width = std::max(1.0f, std::max(std::abs(low), std::abs(high))) * least;
  high = std::max(0.0f, std::max(high, low + width));
}

// SCALED has no offset: the scale (integers per number) is the smaller of the two at which one end
// of the range is the lowest or highest integer, and both ends are adjusted to it.
template <typename T>
float ScaleToBoth(bool narrow, float& low, float& high) {
  float lowest = kLowest<T> + (narrow ? 1 : 0), highest = kHighest<T>;
  constexpr float kNone = std::numeric_limits<float>::max();
  float by_low = lowest * low > 0 ? lowest / low : kNone;
  float by_high = highest * high > 0 ? highest / high : kNone;
  float scale = std::min(by_low, by_high);
  low = lowest / scale;
  high = highest / scale;
  return scale;
}

// True when TensorFlow, with oneDNN enabled, quantizes by oneDNN: 8-bit tensors that are not
// constant, with one range that is not narrow; in mode MIN_FIRST unsigned ones, and in mode SCALED
// those that round half to even.
template <typename T>
bool IsByOneDnn(const KernelContext& ctx, const QuantizeAttrs& attrs) {
  if (!ctx.services().onednn || attrs.is_constant || attrs.narrow || attrs.axis >= 0) return false;
  return attrs.mode == Mode::kMinFirst
             ? std::is_same_v<T, uint8_t>
             : sizeof(T) == 1 && attrs.mode == Mode::kScaled && attrs.half_to_even;
}

// The range becomes [-bound, bound], or [0, bound] for unsigned numbers, with 255 steps: a signed
// number equal to the bound would be 127.5 and is clamped.
template <typename T>
float ScaleToBound(float& low, float& high) {
  high = std::max(std::abs(low), std::abs(high));
  low = std::is_signed_v<T> ? -high : 0.0f;
  return static_cast<float>(kSteps<T> - 1) / (high - low);
}

template <typename T>
T Saturated(float x) {
  // kHighest is 2^31 here, because the largest int32 is not representable as a float. Larger
  // numbers and NaN become the smallest int32.
  if constexpr (sizeof(T) == 4) {
    if (!(x < kHighest<T>)) return std::numeric_limits<T>::lowest();
  }
  if (std::isnan(x)) return 0;  // as on x86
  return static_cast<T>(std::clamp(x, kLowest<T>, kHighest<T>));
}

template <typename T>
void QuantizeRowByOneDnn(const QuantizeAttrs& attrs, float low, float high, const float* in,
                         int64_t n, T* out) {
  if (attrs.mode == Mode::kMinFirst) {  // in this order; halfway cases round to even
    float scale = kHighest<T> / (high - low), offset = low * scale;
    for (int64_t i = 0; i < n; ++i)
      out[i] = Saturated<T>(std::nearbyint(std::max(std::min(high, in[i]), low) * scale - offset));
  } else {
    float scale = ScaleToBound<T>(low, high);
    for (int64_t i = 0; i < n; ++i) {
      float x = std::nearbyint(in[i] * scale);
      out[i] = std::isnan(x) ? std::numeric_limits<T>::lowest() : Saturated<T>(x);
    }
  }
}

template <typename T>
void QuantizeRow(const QuantizeAttrs& attrs, float low, float high, const float* in, int64_t n,
                 T* out) {
  if (attrs.mode == Mode::kMinCombined) {
    float scale = (kHighest<T> - kLowest<T>) / (high - low);
    for (int64_t i = 0; i < n; ++i) {
      float x = std::max(std::min(in[i], high), low);
      out[i] = Saturated<T>(std::round((x - low) * scale - kHalfRange<T>));
    }
  } else if (attrs.mode == Mode::kMinFirst) {
    double range = (high - low) * (kSteps<T> / (kSteps<T> - 1));
    float scale = static_cast<float>(kSteps<T> / range);
    float offset = std::round(low * scale) - kLowest<T>;
    float highest = sizeof(T) == 4 ? std::nextafter(kHighest<T>, 0.0f) : kHighest<T>;
    for (int64_t i = 0; i < n; ++i) {
      float x = std::round(in[i] * scale) - offset;
      out[i] = std::isnan(x) ? T(0) : static_cast<T>(std::min(std::max(x, kLowest<T>), highest));
    }
  } else {
    float from = low, to = high, scale = ScaleToBoth<T>(attrs.narrow, from, to);
    for (int64_t i = 0; i < n; ++i) {
      float x = std::max(std::min(in[i], to), from) * scale;
      out[i] = Saturated<T>(attrs.half_to_even ? std::nearbyint(x) : std::round(x));
    }
  }
}

template <typename T>
Error Quantize(KernelContext& ctx, const QuantizeAttrs& attrs) {
  ASSIGN_OR_RETURN(Slices slices, SlicesOf(ctx, attrs.axis));
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  float* ends[2];
  for (int i : {0, 1}) {
    Dims dims;
    if (attrs.axis >= 0) dims.push_back(slices.count);
    ASSIGN_OR_RETURN(Tensor * end, ctx.Allocate(1 + i, dims));
    ends[i] = end->data<float>();
  }
  bool by_onednn = IsByOneDnn<T>(ctx, attrs);
  std::vector<std::pair<float, float>> ranges(slices.count);
  for (int64_t i = 0; i < slices.count; ++i) {
    float low = ctx.input(1).data<float>()[i], high = ctx.input(2).data<float>()[i];
    if (high < low) return MakeError("max_range {0} is below min_range {1}", high, low);
    Widen(attrs.least_range, low, high);
    ranges[i] = {low, high};
    if (by_onednn && attrs.mode == Mode::kScaled)
      ScaleToBound<T>(low, high);
    else if (attrs.mode == Mode::kScaled)
      ScaleToBoth<T>(attrs.narrow, low, high);
    ends[0][i] = low;
    ends[1][i] = high;
  }
  ForSlices(ctx, slices, 1.5, [&](int64_t first, int64_t n, int64_t slice) {
    auto quantize = by_onednn ? &QuantizeRowByOneDnn<T> : &QuantizeRow<T>;
    quantize(attrs, ranges[slice].first, ranges[slice].second, in.data<float>() + first, n,
             out->data<T>() + first);
  });
  return Error::success();
}

// --- Dequantize

template <typename T, typename Out>
void DequantizeRow(const QuantizeAttrs& attrs, float low, float high, const T* in, int64_t n,
                   Out* out) {
  if (attrs.mode == Mode::kMinCombined) {
    float scale = (high - low) / (kHighest<T> - kLowest<T>);
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<Out>((static_cast<float>(in[i]) + kHalfRange<T>)*scale + low);
  } else if (attrs.mode == Mode::kMinFirst) {
    float scale = static_cast<float>((high - low) / (kSteps<T> - 1));
    float first = low == high ? low : std::round(low / scale) * scale;
    float lowest = kLowest<T> * scale;
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<Out>(static_cast<float>(in[i]) * scale + (first - lowest));
  } else {
    float lowest = kLowest<T> + (attrs.narrow ? 1 : 0), scale = high / kHighest<T>;
    if (std::is_signed_v<T>) scale = std::max(low / lowest, scale);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(static_cast<float>(in[i]) * scale);
  }
}

template <typename T, typename Out>
Error Dequantize(KernelContext& ctx, const QuantizeAttrs& attrs) {
  ASSIGN_OR_RETURN(Slices slices, SlicesOf(ctx, attrs.axis));
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  ForSlices(ctx, slices, 0.6, [&](int64_t first, int64_t n, int64_t slice) {
    DequantizeRow<T>(attrs, ctx.input(1).data<float>()[slice], ctx.input(2).data<float>()[slice],
                     in.data<T>() + first, n, out->data<Out>() + first);
  });
  return Error::success();
}

Expected<KernelFn> MakeQuantize(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(QuantizeAttrs attrs, ReadAttrs(setup.node()));
  attrs.is_constant = setup.constant(0) != nullptr;
  KernelFn fn;
  ForQuantized(setup.output_type(0), [&](auto tag) {
    fn = [attrs](KernelContext& ctx) { return Quantize<typename decltype(tag)::type>(ctx, attrs); };
    return true;
  });
  return fn;
}

Expected<KernelFn> MakeDequantize(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(QuantizeAttrs attrs, ReadAttrs(setup.node()));
  if (attrs.mode == Mode::kMinFirst && attrs.axis >= 0)
    return MakeError("mode MIN_FIRST supports only one range, not one per slice of an axis");
  KernelFn fn;
  bool small = setup.output_type(0) == proto::DT_BFLOAT16;
  DataType from = setup.input_type(0);
  bool is_scaled_byte =
      attrs.mode == Mode::kScaled && (from == proto::DT_QINT8 || from == proto::DT_QUINT8);
  if (small && attrs.mode != Mode::kMinCombined && !is_scaled_byte)
    return MakeError(
        "for an output of bfloat16, mode must be MIN_COMBINED, or SCALED for 8-bit inputs, not {0}",
        setup.node().GetString("mode"));
  ForQuantized(setup.input_type(0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [attrs, small](KernelContext& ctx) {
      return small ? Dequantize<T, Eigen::bfloat16>(ctx, attrs) : Dequantize<T, float>(ctx, attrs);
    };
    return true;
  });
  return fn;
}

const std::vector<DataType>& QuantizedTypes() {
  static const auto* types = new std::vector<DataType>{
      proto::DT_QINT8, proto::DT_QUINT8, proto::DT_QINT16, proto::DT_QUINT16, proto::DT_QINT32};
  return *types;
}

GRAPNEL_CPU_KERNEL("QuantizeV2", MakeQuantize, OfTypes("T", QuantizedTypes()));
GRAPNEL_CPU_KERNEL("Dequantize", MakeDequantize, OfTypes("T", QuantizedTypes()));

}  // namespace
}  // namespace grapnel
