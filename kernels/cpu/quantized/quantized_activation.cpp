// Ops that change quantized numbers within their range, or the range itself: QuantizedRelu,
// QuantizedRelu6, QuantizedConcat, QuantizedConcatV2.
#include <vector>

#include "kernels/common/dims.h"
#include "kernels/cpu/quantized/quantized_number.h"

namespace grapnel {
namespace {

// --- Relus: clamp levels (the stored integers) to the levels of 0 and 6

template <typename T>
Error Cut(KernelContext& ctx, QuantizedRange range, bool up_to_six) {
  const Tensor& in = ctx.input(0);
  T low = Quantized<T>(0, range);
  T high = up_to_six ? Quantized<T>(6, range) : std::numeric_limits<T>::max();
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  const T* from = in.data<T>();
  T* to = out->data<T>();
  ctx.ParallelFor(in.num_elements(), 0.3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = std::min(std::max(from[i], low), high);
  });
  return PutRange(ctx, 1, range);
}

template <bool up_to_six>
Error Relu(KernelContext& ctx) {
  ASSIGN_OR_RETURN(QuantizedRange range, RangeIn(ctx, 1));
  return ctx.input(0).dtype() == proto::DT_QUINT8 ? Cut<uint8_t>(ctx, range, up_to_six)
                                                  : Cut<int32_t>(ctx, range, up_to_six);
}

template <bool up_to_six>
Expected<KernelFn> MakeRelu(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {}, {setup.input_type(0)}));
  return KernelFn(Relu<up_to_six>);
}

// --- Concatenation: converts all inputs to a range that covers each of them

struct Parts {
  int first, count, axis;  // `first` and `count` of the tensors among the inputs
  int64_t outer = 1, inner = 1;
  Dims dims;  // of the result
};

Expected<Parts> PartsIn(const KernelContext& ctx, int first, int count, const Tensor& axis) {
  if (axis.num_elements() != 1)
    return MakeError("the axis must have one element, got shape {0}", DimsText(axis.dims()));
  const Tensor& front = ctx.input(first);
  ASSIGN_OR_RETURN(int at, AxisIn(axis.IntAt(0), front.rank()));
  Parts parts = {first, count, at, 1, 1, Dims(front.dims().begin(), front.dims().end())};
  parts.dims[at] = 0;
  for (int i = 0; i < count; ++i) {
    const Tensor& in = ctx.input(first + i);
    bool fits = in.rank() == front.rank();
    for (int d = 0; fits && d < in.rank(); ++d) fits = d == at || in.dim(d) == front.dim(d);
    if (!fits)
      return MakeError(
          "all tensors must agree except along axis {0}: tensor 0 has shape {1}, tensor {2} has "
          "shape {3}",
          at, DimsText(front.dims()), i, DimsText(in.dims()));
    parts.dims[at] += in.dim(at);
  }
  for (int d = 0; d < front.rank(); ++d) {
    if (d != at) (d < at ? parts.outer : parts.inner) *= front.dim(d);
  }
  return parts;
}

// For signed numbers the range is symmetric.
template <typename T>
QuantizedRange WholeRange(llvm::ArrayRef<QuantizedRange> ranges) {
  QuantizedRange whole = ranges[0];
  for (QuantizedRange range : ranges) {
    whole.low = std::min(whole.low, range.low);
    whole.high = std::max(whole.high, range.high);
  }
  if (!std::is_signed_v<T>) return whole;
  float most = std::max(std::abs(whole.low), std::abs(whole.high));
  return {-most, most};
}

template <typename T>
void PutPart(const Parts& parts, const Tensor& in, QuantizedRange from, QuantizedRange to,
             int64_t offset, Tensor& out) {
  int64_t length = in.dim(parts.axis) * parts.inner, row = parts.dims[parts.axis] * parts.inner;
  bool same = from.low == to.low && from.high == to.high;
  Unquantizer<T> real(from);
  Quantizer<T> quantize(to);
  for (int64_t i = 0; i < parts.outer; ++i) {
    const T* source = in.data<T>() + i * length;
    T* target = out.data<T>() + i * row + offset;
    for (int64_t k = 0; k < length; ++k) target[k] = same ? source[k] : quantize(real(source[k]));
  }
}

template <typename T>
Error Join(KernelContext& ctx, const Parts& parts, int first_range) {
  std::vector<QuantizedRange> ranges(parts.count);
  for (int i = 0; i < parts.count; ++i) {
    const Tensor &low = ctx.input(first_range + i),
                 &high = ctx.input(first_range + parts.count + i);
    if (low.num_elements() != 1 || high.num_elements() != 1)
      return MakeError(
          "both ends of the range of tensor {0} must have one element, got shapes {1} and {2}", i,
          DimsText(low.dims()), DimsText(high.dims()));
    ranges[i] = {*low.data<float>(), *high.data<float>()};
  }
  QuantizedRange whole = WholeRange<T>(ranges);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, parts.dims));
  int64_t offset = 0;
  for (int i = 0; i < parts.count && out->num_elements() > 0; ++i) {
    const Tensor& in = ctx.input(parts.first + i);
    PutPart<T>(parts, in, ranges[i], whole, offset, *out);
    offset += in.dim(parts.axis) * parts.inner;
  }
  return PutRange(ctx, 1, whole);
}

// The axis is the first input, or follows the tensors.
template <bool axis_first>
Error Concat(KernelContext& ctx) {
  int count = (ctx.num_inputs() - 1) / 3;
  if (count < 1 || ctx.num_inputs() != 3 * count + 1)
    return MakeError("expected an axis, tensors, and as many minima and maxima, got {0} inputs",
                     ctx.num_inputs());
  const Tensor& axis = ctx.input(axis_first ? 0 : count);
  ASSIGN_OR_RETURN(Parts parts, PartsIn(ctx, axis_first ? 1 : 0, count, axis));
  Error error = Error::success();
  ForQuantized(ctx.output_type(0), [&](auto tag) {
    cantFail(std::move(error));
    error = Join<typename decltype(tag)::type>(ctx, parts, count + 1);
    return true;
  });
  return error;
}

template <bool axis_first>
Expected<KernelFn> MakeConcat(const KernelSetup&) {
  return KernelFn(Concat<axis_first>);
}

using Types = std::vector<DataType>;
#define GRAPNEL_RELU_KERNEL(op, up_to_six)    \
  GRAPNEL_CPU_KERNEL(op, MakeRelu<up_to_six>, \
                     OfTypes("Tinput", Types{proto::DT_QUINT8, proto::DT_QINT32}))
GRAPNEL_RELU_KERNEL("QuantizedRelu", false);
GRAPNEL_RELU_KERNEL("QuantizedRelu6", true);
GRAPNEL_CPU_KERNEL("QuantizedConcat", MakeConcat<true>,
                   OfTypes("T", Types{proto::DT_QUINT8, proto::DT_QINT32}));
GRAPNEL_CPU_KERNEL("QuantizedConcatV2", MakeConcat<false>,
                   OfTypes("T", Types{proto::DT_QUINT8, proto::DT_QINT8}));

}  // namespace
}  // namespace grapnel
