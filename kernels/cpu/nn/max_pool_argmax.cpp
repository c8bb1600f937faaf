// MaxPoolWithArgmax and MaxPoolGradWithArgmax: the maximum of each window and its index.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/common/pooling.h"

namespace grapnel {
namespace {

// Computes one row of outputs of one image, channels last. The first of equal elements wins; NaN
// wins only as the first element of its window.
template <typename T, typename I>
void ArgmaxRow(const Window& w, int64_t h, int64_t channels, const T* image, int64_t base, T* out,
               I* at) {
  auto [h0, h1] = w[1].Taps(h);
  for (int64_t x = 0; x < w[2].out; ++x, out += channels, at += channels) {
    auto [x0, x1] = w[2].Taps(x);
    std::fill_n(out, channels, std::numeric_limits<T>::lowest());
    std::fill_n(at, channels, I(-1));
    for (int64_t kh = h0; kh < h1; ++kh) {
      for (int64_t kx = x0; kx < x1; ++kx) {
        int64_t row = h * w[1].stride - w[1].before + kh;
        int64_t pixel = (row * w[2].in + x * w[2].stride - w[2].before + kx) * channels;
        for (int64_t c = 0; c < channels; ++c) {
          T value = image[pixel + c];
          if (value > out[c] || at[c] < 0) {
            out[c] = value;
            at[c] = static_cast<I>(base + pixel + c);
          }
        }
      }
    }
  }
}

template <typename T, typename I>
Error MaxPoolWithArgmax(KernelContext& ctx, const PoolAttrs& attrs, bool count_batch) {
  const Tensor& input = ctx.input(0);
  ASSIGN_OR_RETURN(Window window, attrs.Resolve(input.dims()));
  int64_t batch = input.dim(0), channels = input.dim(3);
  Dims dims = attrs.window.OutputDims(batch, window, channels);
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  ASSIGN_OR_RETURN(Tensor * argmax, ctx.Allocate(1, dims));
  if (out->num_elements() == 0) return Error::success();
  int64_t image = input.num_elements() / batch, row = window[2].out * channels;
  double cost = row * window[1].kernel * window[2].kernel * 0.6;
  ctx.ParallelFor(batch * window[1].out, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t start = i / window[1].out * image;
      ArgmaxRow(window, i % window[1].out, channels, input.data<T>() + start,
                count_batch ? start : 0, out->data<T>() + i * row, argmax->data<I>() + i * row);
    }
  });
  return Error::success();
}

// Adds each gradient to the element at its index; indices count from the start of the image unless
// `count_batch`.
template <typename T, typename I>
Error MaxPoolGradWithArgmax(KernelContext& ctx, const PoolAttrs& attrs, bool count_batch) {
  const Tensor &input = ctx.input(0), &gradient = ctx.input(1), &argmax = ctx.input(2);
  ASSIGN_OR_RETURN(Window window, attrs.Resolve(input.dims()));
  Dims dims = attrs.window.OutputDims(input.dim(0), window, input.dim(3));
  for (const Tensor* tensor : {&gradient, &argmax}) {
    if (tensor->dims() != llvm::ArrayRef<int64_t>(dims))
      return MakeError("gradient and argmax must have shape {0}, not {1}", DimsText(dims),
                       DimsText(tensor->dims()));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, input.dims()));
  std::fill_n(out->data<T>(), out->num_elements(), T(0));
  if (gradient.num_elements() == 0) return Error::success();
  int64_t image = input.num_elements() / input.dim(0);
  int64_t results = gradient.num_elements() / input.dim(0);
  for (int64_t i = 0; i < gradient.num_elements(); ++i) {
    int64_t first = count_batch ? 0 : i / results * image, index = argmax.data<I>()[i];
    int64_t limit = count_batch ? input.num_elements() : image;
    if (index < 0 || index >= limit)
      return MakeError("argmax element {0} is {1}, not in [0, {2})", i, index, limit);
    T& to = out->data<T>()[first + index];
    to = AddOf<T>(to, gradient.data<T>()[i]);
  }
  return Error::success();
}

template <bool gradient>
Expected<KernelFn> MakeArgmax(const KernelSetup& setup) {
  PoolAttrs attrs;
  ASSIGN_OR_RETURN(attrs.window, ReadWindowAttrs(setup, 2));
  attrs.sizes = setup.node().GetInts("ksize");
  RETURN_IF_ERROR(CheckPool(attrs, false));
  bool count_batch = setup.node().GetBool("include_batch_in_index");
  DataType index = gradient ? setup.input_type(2) : setup.output_type(1);
  KernelFn fn;
  ForType(setup.output_type(0), RealTypes(), [&](auto tag) {
    return ForType(index, TypeList<int32_t, int64_t>(), [&](auto index_tag) {
      fn = [attrs, count_batch](KernelContext& ctx) {
        using T = typename decltype(tag)::type;
        using I = typename decltype(index_tag)::type;
        if constexpr (gradient)
          return MaxPoolGradWithArgmax<T, I>(ctx, attrs, count_batch);
        else
          return MaxPoolWithArgmax<T, I>(ctx, attrs, count_batch);
      };
      return true;
    });
  });
  if (!fn) return MakeError("argmax must be int32 or int64, not {0}", DataTypeName(index));
  return fn;
}

GRAPNEL_CPU_KERNEL("MaxPoolWithArgmax", MakeArgmax<false>, OfTypes("T", DataTypesOf(RealTypes())),
                   NotEmpty(0));
GRAPNEL_CPU_KERNEL("MaxPoolGradWithArgmax", MakeArgmax<true>,
                   OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
