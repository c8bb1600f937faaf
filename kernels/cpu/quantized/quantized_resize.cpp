// QuantizedResizeBilinear: interpolates levels (the stored integers) in fixed point, with 7
// fractional bits for bytes and 30 for 32-bit levels.
#include <vector>

#include "kernels/cpu/image/resize.h"
#include "kernels/cpu/quantized/quantized_number.h"

namespace grapnel {
namespace {

// The pixels around a source position.
template <typename T>
struct Corners {
  T top_left, top_right, low_left, low_right;
};

float Between(const Corners<float>& at, const ResizeBetween& x, const ResizeBetween& y) {
  float top = at.top_left + (at.top_right - at.top_left) * x.weight;
  float bottom = at.low_left + (at.low_right - at.low_left) * x.weight;
  return top + (bottom - top) * y.weight;
}

template <int kBits>
int64_t FixedPoint(const Corners<int64_t>& at, const ResizeBetween& x, const ResizeBetween& y) {
  constexpr int64_t kOne = int64_t{1} << kBits;
  auto wx = static_cast<int64_t>(x.weight * static_cast<float>(kOne)),
       wy = static_cast<int64_t>(y.weight * static_cast<float>(kOne));
  int64_t top = at.top_left * kOne + (at.top_right - at.top_left) * wx;
  int64_t bottom = at.low_left * kOne + (at.low_right - at.low_left) * wx;
  return (top + (bottom - top) / kOne * wy + kOne / 2) / kOne;
}

uint8_t Between(const Corners<uint8_t>& at, const ResizeBetween& x, const ResizeBetween& y) {
  Corners<int64_t> wide = {at.top_left, at.top_right, at.low_left, at.low_right};
  return static_cast<uint8_t>(FixedPoint<7>(wide, x, y));
}

// TensorFlow converts 32-bit levels to 64 bits through float.
int64_t Widened(int32_t level) { return static_cast<int64_t>(static_cast<float>(level)); }

int32_t Between(const Corners<int32_t>& at, const ResizeBetween& x, const ResizeBetween& y) {
  Corners<int64_t> wide = {Widened(at.top_left), Widened(at.top_right), Widened(at.low_left),
                           Widened(at.low_right)};
  return static_cast<int32_t>(FixedPoint<30>(wide, x, y));
}

template <typename T>
void ResizeRow(const T* top, const T* bottom, llvm::ArrayRef<ResizeBetween> xs,
               const ResizeBetween& y, int64_t depth, T* to) {
  for (const ResizeBetween& x : xs) {
    for (int64_t c = 0; c < depth; ++c) {
      int64_t left = x.lower * depth + c, right = x.upper * depth + c;
      Corners<T> at = {top[left], top[right], bottom[left], bottom[right]};
      *to++ = Between(at, x, y);
    }
  }
}

template <typename T>
class Resize : public ResizeAttrs {
 public:
  using ResizeAttrs::ResizeAttrs;
  Error operator()(KernelContext& ctx) const {
    ResizeAxis rows, columns;
    RETURN_IF_ERROR(Prepare(ctx, &rows, &columns));
    ASSIGN_OR_RETURN(QuantizedRange range, RangeIn(ctx, 2));
    RETURN_IF_ERROR(PutRange(ctx, 1, range));
    const Tensor& in = ctx.input(0);
    int64_t depth = in.dim(3), row_size = columns.in * depth;
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {in.dim(0), rows.out, columns.out, depth}));
    std::vector<ResizeBetween> ys = BilinearPositions(rows), xs = BilinearPositions(columns);
    if (rows.in == rows.out && columns.in == columns.out) {
      ctx.SetOutput(0, in);
      return Error::success();
    }
    auto cost = 4.0 * static_cast<double>(columns.out * depth);
    ctx.ParallelFor(in.dim(0) * rows.out, cost, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const ResizeBetween& y = ys[row % rows.out];
        const T* image = in.data<T>() + row / rows.out * rows.in * row_size;
        ResizeRow<T>(image + y.lower * row_size, image + y.upper * row_size, xs, y, depth,
                     out->data<T>() + row * columns.out * depth);
      }
    });
    return Error::success();
  }
};

Expected<KernelFn> MakeResize(const KernelSetup& setup) {
  switch (setup.input_type(0)) {
    case proto::DT_QUINT8:
      return KernelFn(Resize<uint8_t>(setup));
    case proto::DT_QINT32:
      return KernelFn(Resize<int32_t>(setup));
    default:
      return KernelFn(Resize<float>(setup));
  }
}

GRAPNEL_CPU_KERNEL("QuantizedResizeBilinear", MakeResize,
                   OfTypes("T", std::vector<DataType>{proto::DT_QUINT8, proto::DT_QINT32,
                                                      proto::DT_FLOAT}));

}  // namespace
}  // namespace grapnel
