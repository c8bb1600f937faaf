// UniformQuantize, UniformDequantize, UniformRequantize, UniformQuantizedAdd and
// UniformQuantizedClipByValue.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/broadcast.h"
#include "kernels/cpu/quantized/quantized_number.h"
#include "kernels/cpu/quantized/uniform_quantized.h"

namespace grapnel {
namespace {

// --- UniformQuantize, UniformDequantize

template <typename T>
void QuantizeTo(const Tensor& in, const UniformScales& scales, const AxisSlices& slices,
                LevelBounds bounds, Tensor& out) {
  std::vector<float> inverses(slices.count);
  for (int64_t s = 0; s < slices.count && in.num_elements() > 0; ++s)
    inverses[s] = 1.0f / scales.scale(s);
  // Values beyond int32 become the smallest integer, as in x86's conversion.
  constexpr float kEnd = 2147483648.0f;
  constexpr auto kBeyond = std::numeric_limits<int32_t>::min();
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    int64_t slice = slices(i);
    float level = std::floor(in.data<float>()[i] * inverses[slice] + 0.5f);
    int32_t whole = level >= -kEnd && level < kEnd ? static_cast<int32_t>(level) : kBeyond;
    int32_t moved = AddOf(whole, scales.zero(slice));
    out.data<T>()[i] = static_cast<T>(std::max(std::min(moved, bounds.high), bounds.low));
  }
}

Expected<KernelFn> MakeQuantize(const KernelSetup& setup) {
  DataType dtype = setup.output_type(0);
  if (dtype != proto::DT_QINT8 && dtype != proto::DT_QUINT8)
    RETURN_IF_ERROR(CheckTypes(setup, {}, {proto::DT_QINT32}));
  ASSIGN_OR_RETURN(int64_t axis, QuantizationAxis(setup.node(), "quantization_axis"));
  ASSIGN_OR_RETURN(LevelBounds bounds, LevelBoundsOf(setup.node(), ""));
  return KernelFn([axis, bounds](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(UniformScales scales, UniformScalesIn(ctx, 1, in.dims(), axis, true));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    ForQuantized(ctx.output_type(0), [&](auto tag) {
      QuantizeTo<typename decltype(tag)::type>(in, scales, AxisSlices(in.dims(), axis), bounds,
                                               *out);
      return true;
    });
    return Error::success();
  });
}

Expected<KernelFn> MakeDequantize(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(int64_t axis, QuantizationAxis(setup.node(), "quantization_axis"));
  return KernelFn([axis](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(UniformScales scales, UniformScalesIn(ctx, 1, in.dims(), axis));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    AxisSlices slices(in.dims(), axis);
    ForQuantized(in.dtype(), [&](auto tag) {
      const auto* levels = in.data<typename decltype(tag)::type>();
      for (int64_t i = 0; i < in.num_elements(); ++i) {
        int32_t level = SubOf(ReadLevel(levels[i]), scales.zero(slices(i)));
        out->data<float>()[i] = static_cast<float>(level) * scales.scale(slices(i));
      }
      return true;
    });
    return Error::success();
  });
}

// --- UniformRequantize

// Returns the multipliers from one scale to another, one for the tensor or one per slice of the
// axis.
Expected<std::vector<FixedMultiplier>> Multipliers(const UniformScales& from,
                                                   const UniformScales& to, int64_t count) {
  std::vector<FixedMultiplier> multipliers(count);
  for (int64_t s = 0; s < count; ++s) {
    double ratio = static_cast<double>(from.scale(s)) / static_cast<double>(to.scale(s));
    ASSIGN_OR_RETURN(multipliers[s], FixedMultiplier::Of(ratio));
  }
  return multipliers;
}

Error RequantizeTo(KernelContext& ctx, int64_t from_axis, int64_t to_axis, LevelBounds bounds) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(UniformScales from, UniformScalesIn(ctx, 1, in.dims(), from_axis));
  ASSIGN_OR_RETURN(UniformScales to, UniformScalesIn(ctx, 3, in.dims(), to_axis));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  if (in.num_elements() == 0) return Error::success();
  AxisSlices slices(in.dims(), std::max(from_axis, to_axis));
  ASSIGN_OR_RETURN(std::vector<FixedMultiplier> multipliers, Multipliers(from, to, slices.count));
  ForQuantized(in.dtype(), [&](auto tag) {
    const auto* levels = in.data<typename decltype(tag)::type>();
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      int64_t slice = slices(i);
      out->data<int8_t>()[i] = static_cast<int8_t>(
          multipliers[slice](ReadLevel(levels[i]), from.zero(slice), to.zero(slice), bounds));
    }
    return true;
  });
  return Error::success();
}

Expected<KernelFn> MakeRequantize(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {}, {proto::DT_QINT8}));
  ASSIGN_OR_RETURN(int64_t from, QuantizationAxis(setup.node(), "input_quantization_axis"));
  ASSIGN_OR_RETURN(int64_t to, QuantizationAxis(setup.node(), "output_quantization_axis"));
  ASSIGN_OR_RETURN(LevelBounds bounds, LevelBoundsOf(setup.node(), "output_"));
  if (from >= 0 && to >= 0 && from != to)
    return MakeError(
        "if input and output both have a quantization axis, it must be the same, got {0} and {1}",
        from, to);
  return KernelFn(
      [from, to, bounds](KernelContext& ctx) { return RequantizeTo(ctx, from, to, bounds); });
}

// --- UniformQuantizedAdd

struct AddAttrs {
  int64_t left, right, out;  // axes
  LevelBounds bounds;
};

// Returns one operand in the scale of the result with a zero point of 0.
Expected<std::vector<int32_t>> SideInScale(const Tensor& in, const UniformScales& from,
                                           const UniformScales& to, int64_t axis) {
  AxisSlices slices(in.dims(), axis);
  std::vector<int32_t> levels(in.num_elements());
  if (levels.empty()) return levels;
  ASSIGN_OR_RETURN(std::vector<FixedMultiplier> multipliers, Multipliers(from, to, slices.count));
  constexpr LevelBounds kAll = {std::numeric_limits<int32_t>::min(),
                                std::numeric_limits<int32_t>::max()};
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    int64_t slice = slices(i);
    levels[i] =
        ReadLevel(multipliers[slice](ReadLevel(in.data<int32_t>()[i]), from.zero(slice), 0, kAll));
  }
  return levels;
}

// Axes are counted from the last dimension, because an operand may have fewer dimensions than the
// result.
Error CheckSameAxis(llvm::ArrayRef<int64_t> side, int64_t side_axis, llvm::ArrayRef<int64_t> out,
                    int64_t out_axis) {
  auto from_end = [](llvm::ArrayRef<int64_t> dims, int64_t axis) {
    return static_cast<int64_t>(dims.size()) - axis;
  };
  if (side_axis < 0 || out_axis < 0 || from_end(side, side_axis) == from_end(out, out_axis))
    return Error::success();
  return MakeError(
      "the quantization axes of operand and result must match, counted from the last dimension: "
      "got axis {0} of shape {1} and axis {2} of the result's shape {3}",
      side_axis, DimsText(side), out_axis, DimsText(out));
}

Error AddUniform(KernelContext& ctx, const AddAttrs& attrs) {
  const Tensor &left = ctx.input(0), &right = ctx.input(1);
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({left.dims(), right.dims()}));
  ASSIGN_OR_RETURN(UniformScales of_left, UniformScalesIn(ctx, 2, left.dims(), attrs.left));
  ASSIGN_OR_RETURN(UniformScales of_right, UniformScalesIn(ctx, 4, right.dims(), attrs.right));
  ASSIGN_OR_RETURN(UniformScales to, UniformScalesIn(ctx, 6, plan.dims, attrs.out));
  RETURN_IF_ERROR(CheckSameAxis(left.dims(), attrs.left, plan.dims, attrs.out));
  RETURN_IF_ERROR(CheckSameAxis(right.dims(), attrs.right, plan.dims, attrs.out));
  if (attrs.out >= 0 && (attrs.left < 0 || attrs.right < 0))
    return MakeError("a result with scales along an axis needs two operands with scales along it");
  ASSIGN_OR_RETURN(std::vector<int32_t> a, SideInScale(left, of_left, to, attrs.left));
  ASSIGN_OR_RETURN(std::vector<int32_t> b, SideInScale(right, of_right, to, attrs.right));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.dims));
  AxisSlices slices(plan.dims, attrs.out);
  int64_t a_step = plan.strides[0].back(), b_step = plan.strides[1].back();
  plan.ForRows(0, plan.total, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      int32_t sum = AddOf(a[offsets[0] + i * a_step], b[offsets[1] + i * b_step]);
      sum = AddOf(sum, to.zero(slices(at + i)));
      out->data<int32_t>()[at + i] = std::max(std::min(sum, attrs.bounds.high), attrs.bounds.low);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeAdd(const KernelSetup& setup) {
  AddAttrs attrs;
  const Node& node = setup.node();
  ASSIGN_OR_RETURN(attrs.left, QuantizationAxis(node, "lhs_quantization_axis"));
  ASSIGN_OR_RETURN(attrs.right, QuantizationAxis(node, "rhs_quantization_axis"));
  ASSIGN_OR_RETURN(attrs.out, QuantizationAxis(node, "output_quantization_axis"));
  ASSIGN_OR_RETURN(attrs.bounds, LevelBoundsOf(node, "output_"));
  return KernelFn([attrs](KernelContext& ctx) { return AddUniform(ctx, attrs); });
}

// --- UniformQuantizedClipByValue

Expected<KernelFn> MakeClip(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(int64_t axis, QuantizationAxis(setup.node(), "quantization_axis"));
  return KernelFn([axis](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &low = ctx.input(1), &high = ctx.input(2);
    RETURN_IF_ERROR(UniformScalesIn(ctx, 3, in.dims(), axis, true).takeError());
    if (low.dims() != ctx.input(3).dims() || high.dims() != ctx.input(3).dims())
      return MakeError("min and max must have the shape of scales, {0}, got {1} and {2}",
                       DimsText(ctx.input(3).dims()), DimsText(low.dims()), DimsText(high.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    AxisSlices slices(in.dims(), axis);
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      int64_t slice = slices(i);
      out->data<int32_t>()[i] = std::min(
          std::max(in.data<int32_t>()[i], low.data<int32_t>()[slice]), high.data<int32_t>()[slice]);
    }
    return Error::success();
  });
}

using Types = std::vector<DataType>;
GRAPNEL_CPU_KERNEL("UniformQuantize", MakeQuantize, OfTypes("Tin", Types{proto::DT_FLOAT}));
GRAPNEL_CPU_KERNEL("UniformDequantize", MakeDequantize,
                   OfTypes("Tin", Types{proto::DT_QINT8, proto::DT_QUINT8, proto::DT_QINT32}));
GRAPNEL_CPU_KERNEL("UniformRequantize", MakeRequantize,
                   OfTypes("Tin", Types{proto::DT_QINT8, proto::DT_QINT32}));
GRAPNEL_CPU_KERNEL("UniformQuantizedAdd", MakeAdd, OfTypes("T", Types{proto::DT_QINT32}));
GRAPNEL_CPU_KERNEL("UniformQuantizedClipByValue", MakeClip, OfTypes("T", Types{proto::DT_QINT32}));

}  // namespace
}  // namespace grapnel
