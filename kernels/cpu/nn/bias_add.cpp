// BiasAdd and BiasAddV1: add a vector along the channels.
#include <algorithm>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

// Computes x[outer, channels, inner] + bias[channels]; `in` and `out` may share memory.
template <typename T>
void AddBias(KernelContext& ctx, const T* in, const T* bias, T* out, int64_t outer,
             int64_t channels, int64_t inner) {
  if (inner == 1) {
    // A few channels do not fill a vector register, so the bias is repeated for several rows.
    constexpr int64_t kRepeated = 64;
    int64_t rows = std::clamp<int64_t>(kRepeated / channels, 1, outer);
    T repeated[kRepeated];
    for (int64_t i = 0; rows > 1 && i < rows; ++i)
      std::copy_n(bias, channels, repeated + i * channels);
    const T* biases = rows > 1 ? repeated : bias;
    ctx.ParallelFor(outer, channels * 0.3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += rows) {
        const T* from = in + i * channels;
        T* to = out + i * channels;
        int64_t n = std::min(rows, end - i) * channels;
        GRAPNEL_VECTORIZE
        for (int64_t c = 0; c < n; ++c) to[c] = AddOf<T>(from[c], biases[c]);
      }
    });
    return;
  }
  ctx.ParallelFor(outer * channels, inner * 0.3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T value = bias[i % channels];
      const T* from = in + i * inner;
      T* to = out + i * inner;
      GRAPNEL_VECTORIZE
      for (int64_t j = 0; j < inner; ++j) to[j] = AddOf<T>(from[j], value);
    }
  });
}

template <typename T>
Error BiasAdd(KernelContext& ctx, bool channels_first) {
  // Copies the dimensions: a copied tensor would hold a reference to the buffer and prevent
  // forwarding the input.
  Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
  const Tensor& bias = ctx.input(1);
  int rank = static_cast<int>(dims.size());
  if (rank < 2)
    return MakeError("the input must have rank 2 or more, not shape {0}", DimsText(dims));
  int channel = channels_first ? 1 : rank - 1;
  if (bias.rank() != 1 || bias.dim(0) != dims[channel]) {
    return MakeError("the bias must be a vector of {0} elements for input {1}, got shape {2}",
                     dims[channel], DimsText(dims), DimsText(bias.dims()));
  }
  llvm::ArrayRef<int64_t> all(dims);
  int64_t outer = *NumElements(all.take_front(channel)),
          inner = *NumElements(all.drop_front(channel + 1));
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, dims));
  if (out->num_elements() == 0) return Error::success();
  AddBias(ctx, ctx.input(0).data<T>(), bias.data<T>(), out->data<T>(), outer, dims[channel], inner);
  return Error::success();
}

Expected<KernelFn> MakeBiasAdd(const KernelSetup& setup) {
  std::string format = setup.node().GetString("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW")
    return MakeError("data_format '{0}' is not NHWC or NCHW", format);
  bool channels_first = format == "NCHW";
  KernelFn fn;
  ForType(setup.output_type(0), NumberTypes(), [&](auto tag) {
    fn = [channels_first](KernelContext& ctx) {
      return BiasAdd<typename decltype(tag)::type>(ctx, channels_first);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("BiasAdd", MakeBiasAdd, OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("BiasAddV1", MakeBiasAdd, OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
