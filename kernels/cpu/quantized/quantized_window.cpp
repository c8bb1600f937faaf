// Windows over quantized images: QuantizedConv2D, QuantizedAvgPool, QuantizedMaxPool.
#include <vector>

#include "kernels/common/pooling.h"
#include "kernels/cpu/quantized/quantized_number.h"

namespace grapnel {
namespace {

// --- QuantizedConv2D

struct ConvPlan {
  WindowDim rows, columns;
  int64_t in_depth, out_depth;
  uint32_t zero_in = 0, zero_filter = 0;  // the levels of 0
  QuantizedRange range;                   // of the result
};

// Unused pixels are split between both sides instead of following the last window.
void Center(WindowDim& dim) {
  int64_t beyond = (dim.out - 1) * dim.stride + dim.kernel - dim.in;
  dim.before = (beyond + 1) / 2;
}

// A signed filter is symmetric: its level 0 is the number 0, and TensorFlow then also takes level 0
// of the input as 0.
Error SetRange(const KernelContext& ctx, ConvPlan& plan) {
  ASSIGN_OR_RETURN(QuantizedRange in, RangeIn(ctx, 2));
  ASSIGN_OR_RETURN(QuantizedRange filter, RangeIn(ctx, 4));
  if (ctx.input(1).dtype() == proto::DT_QUINT8) {
    plan.zero_in = static_cast<uint32_t>(LevelOf<uint8_t>(0, in));
    plan.zero_filter = static_cast<uint32_t>(LevelOf<uint8_t>(0, filter));
    plan.range = RangeOfProduct<uint8_t, uint8_t>(in, filter);
  } else {
    float step = (filter.high - filter.low) / 254.0f;
    float most = StepOf<uint8_t>(in) * step * 2147483648.0f;
    plan.range = {-most, most};
  }
  return Error::success();
}

Expected<ConvPlan> PlanConv(const KernelContext& ctx, const WindowAttrs& attrs) {
  const Tensor &in = ctx.input(0), &filter = ctx.input(1);
  if (in.rank() != 4 || filter.rank() != 4 || in.dim(3) != filter.dim(2))
    return MakeError(
        "expected an input [batch, height, width, depth] and a filter [height, width, depth, "
        "count], got shapes {0} and {1}",
        DimsText(in.dims()), DimsText(filter.dims()));
  if (filter.dim(0) < 1 || filter.dim(1) < 1)
    return MakeError("the height and width of a filter must be at least 1, got shape {0}",
                     DimsText(filter.dims()));
  ASSIGN_OR_RETURN(Window window, attrs.Resolve(in.dims(), filter.dims()));
  ConvPlan plan;
  plan.rows = window[1];
  plan.columns = window[2];
  if (attrs.padding == Padding::kValid && filter.dtype() == proto::DT_QUINT8) {
    Center(plan.rows);
    Center(plan.columns);
  }
  plan.in_depth = in.dim(3);
  plan.out_depth = filter.dim(3);
  RETURN_IF_ERROR(SetRange(ctx, plan));
  return plan;
}

// Sums wrap on overflow. Pixels outside the image are 0.
template <typename W>
void ConvPixel(const ConvPlan& plan, const uint8_t* image, const W* filter, int64_t y, int64_t x,
               uint32_t* out) {
  std::fill_n(out, plan.out_depth, 0);
  auto [y0, y1] = plan.rows.Taps(y);
  auto [x0, x1] = plan.columns.Taps(x);
  for (int64_t ky = y0; ky < y1; ++ky) {
    for (int64_t kx = x0; kx < x1; ++kx) {
      int64_t row = y * plan.rows.stride - plan.rows.before + ky;
      int64_t column = x * plan.columns.stride - plan.columns.before + kx;
      const uint8_t* pixel = image + (row * plan.columns.in + column) * plan.in_depth;
      const W* weights = filter + (ky * plan.columns.kernel + kx) * plan.in_depth * plan.out_depth;
      for (int64_t d = 0; d < plan.in_depth; ++d, weights += plan.out_depth) {
        uint32_t value = pixel[d] - plan.zero_in;
        for (int64_t c = 0; c < plan.out_depth; ++c)
          out[c] += value * (static_cast<uint32_t>(weights[c]) - plan.zero_filter);
      }
    }
  }
}

template <typename W>
Error Conv(KernelContext& ctx, const WindowAttrs& attrs) {
  ASSIGN_OR_RETURN(ConvPlan plan, PlanConv(ctx, attrs));
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out,
                   ctx.Allocate(0, {in.dim(0), plan.rows.out, plan.columns.out, plan.out_depth}));
  const auto* images = in.data<uint8_t>();
  const W* filter = ctx.input(1).data<W>();
  int64_t image_size = in.dim(1) * in.dim(2) * in.dim(3);
  auto cost = static_cast<double>(ctx.input(1).num_elements());
  int64_t pixels = out->num_elements() == 0 ? 0 : out->num_elements() / plan.out_depth;
  ctx.ParallelFor(pixels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t x = i % plan.columns.out, row = i / plan.columns.out;
      ConvPixel(plan, images + row / plan.rows.out * image_size, filter, row % plan.rows.out, x,
                out->data<uint32_t>() + i * plan.out_depth);
    }
  });
  return PutRange(ctx, 1, plan.range);
}

Expected<KernelFn> MakeConv(const KernelSetup& setup) {
  bool is_signed = setup.input_type(1) == proto::DT_QINT8;
  DataType filter = is_signed ? proto::DT_QINT8 : proto::DT_QUINT8;
  RETURN_IF_ERROR(CheckTypes(setup, {proto::DT_QUINT8, filter}, {proto::DT_QINT32}));
  ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(setup, 2));
  RETURN_IF_ERROR(CheckWindowList("strides", attrs.strides, 4));
  if (attrs.strides[0] != 1 || attrs.strides[3] != 1 || attrs.strides[1] != attrs.strides[2])
    return MakeError("strides must be equal for rows and columns and 1 for batch and depth");
  if (attrs.dilations[1] != 1 || attrs.dilations[2] != 1)
    return MakeError("dilations must be 1, got {0} and {1}", attrs.dilations[1],
                     attrs.dilations[2]);
  return KernelFn([attrs, is_signed](KernelContext& ctx) {
    return is_signed ? Conv<int8_t>(ctx, attrs) : Conv<uint8_t>(ctx, attrs);
  });
}

// --- Pools: the range is unchanged

// oneDNN rounds means to the nearest integer, halfway cases to even; TensorFlow's own kernel
// truncates.
template <typename T, bool kByOneDnn>
struct MeanOf {
  static constexpr int32_t kStart = 0;
  static int32_t Take(int32_t so_far, T level) { return so_far + level; }
  static T End(int32_t sum, int64_t count) {
    if constexpr (!kByOneDnn)
      return static_cast<T>(sum / static_cast<int32_t>(std::max<int64_t>(count, 1)));
    float mean = static_cast<float>(sum) / static_cast<float>(std::max<int64_t>(count, 1));
    return static_cast<T>(std::nearbyint(mean));
  }
};
template <typename T, bool kByOneDnn>
struct MaxOf {
  static constexpr auto kStart = static_cast<int32_t>(kLowestLevel<T>);
  static int32_t Take(int32_t so_far, T level) { return std::max<int32_t>(so_far, level); }
  static T End(int32_t most, int64_t) { return static_cast<T>(most); }
};

template <typename Op, typename T>
void PoolPixel(const Window& w, const T* image, int64_t depth, int64_t y, int64_t x, T* out,
               std::vector<int32_t>& so_far) {
  so_far.assign(depth, Op::kStart);
  auto [y0, y1] = w[1].Taps(y);
  auto [x0, x1] = w[2].Taps(x);
  for (int64_t ky = y0; ky < y1; ++ky) {
    for (int64_t kx = x0; kx < x1; ++kx) {
      int64_t row = y * w[1].stride - w[1].before + ky, column = x * w[2].stride - w[2].before + kx;
      const T* pixel = image + (row * w[2].in + column) * depth;
      for (int64_t c = 0; c < depth; ++c) so_far[c] = Op::Take(so_far[c], pixel[c]);
    }
  }
  for (int64_t c = 0; c < depth; ++c) out[c] = Op::End(so_far[c], (y1 - y0) * (x1 - x0));
}

template <typename Op, typename T>
Error Pool(KernelContext& ctx, const PoolAttrs& attrs) {
  const Tensor& in = ctx.input(0);
  if (in.rank() != 4)
    return MakeError("images must be [batch, height, width, depth], got shape {0}",
                     DimsText(in.dims()));
  ASSIGN_OR_RETURN(Window w, attrs.Resolve(in.dims()));
  ASSIGN_OR_RETURN(QuantizedRange range, RangeIn(ctx, 1));
  int64_t depth = in.dim(3);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {in.dim(0), w[1].out, w[2].out, depth}));
  int64_t image_size = in.dim(1) * in.dim(2) * depth, pixels = in.dim(0) * w[1].out * w[2].out;
  auto cost = static_cast<double>(w[1].kernel * w[2].kernel * depth);
  ctx.ParallelFor(pixels, cost, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> so_far;
    for (int64_t i = begin; i < end; ++i) {
      int64_t x = i % w[2].out, row = i / w[2].out;
      PoolPixel<Op, T>(w, in.data<T>() + row / w[1].out * image_size, depth, row % w[1].out, x,
                       out->data<T>() + i * depth, so_far);
    }
  });
  return PutRange(ctx, 1, range);
}

template <template <typename, bool> class Op, bool kByOneDnn>
Error Pool(KernelContext& ctx, const PoolAttrs& attrs, bool is_signed) {
  return is_signed ? Pool<Op<int8_t, kByOneDnn>, int8_t>(ctx, attrs)
                   : Pool<Op<uint8_t, kByOneDnn>, uint8_t>(ctx, attrs);
}

template <template <typename, bool> class Op>
Expected<KernelFn> MakePool(const KernelSetup& setup) {
  PoolAttrs attrs;
  ASSIGN_OR_RETURN(attrs.window, ReadWindowAttrs(setup, 2));
  attrs.sizes = setup.node().GetInts("ksize");
  RETURN_IF_ERROR(CheckPool(attrs, false));
  bool is_signed = setup.input_type(0) == proto::DT_QINT8;
  return KernelFn([attrs, is_signed](KernelContext& ctx) {
    return ctx.services().onednn ? Pool<Op, true>(ctx, attrs, is_signed)
                                 : Pool<Op, false>(ctx, attrs, is_signed);
  });
}

using Types = std::vector<DataType>;
GRAPNEL_CPU_KERNEL("QuantizedConv2D", MakeConv, OfTypes("Tinput", Types{proto::DT_QUINT8}),
                   Scalar(2, 3, 4, 5));
GRAPNEL_CPU_KERNEL("QuantizedAvgPool", MakePool<MeanOf>,
                   OfTypes("T", Types{proto::DT_QINT8, proto::DT_QUINT8}));
GRAPNEL_CPU_KERNEL("QuantizedMaxPool", MakePool<MaxOf>,
                   OfTypes("T", Types{proto::DT_QINT8, proto::DT_QUINT8}));

}  // namespace
}  // namespace grapnel
