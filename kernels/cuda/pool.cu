// Pooling. Windows may be padded differently on both sides (as with SAME), which cuDNN's pooling
// does not support; one thread per result.
#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {
inline namespace pool_cu {

template <typename T>
__global__ void PoolKernel(bool is_max, T* to, const T* from, int64_t count, GrapnelCudaWindow w) {
  using C = Compute<T>;
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) {
    int64_t rest = i, channel, row, column;
    if (w.channels_last) {
      channel = rest % w.in_channels;
      rest /= w.in_channels;
      column = rest % w.out[1];
      rest /= w.out[1];
      row = rest % w.out[0];
      rest /= w.out[0];
    } else {
      column = rest % w.out[1];
      rest /= w.out[1];
      row = rest % w.out[0];
      rest /= w.out[0];
      channel = rest % w.in_channels;
      rest /= w.in_channels;
    }
    int64_t step = w.channels_last ? w.in_channels : 1;
    const T* image = from + rest * w.in_channels * w.in[0] * w.in[1] +
                     (w.channels_last ? channel : channel * w.in[0] * w.in[1]);
    int64_t top = row * w.stride[0] - w.before[0], left = column * w.stride[1] - w.before[1];
    C value = is_max ? -kInfinity<C> : C(0);
    int64_t taps = 0;
    for (int64_t y = top < 0 ? 0 : top; y < top + w.kernel[0] && y < w.in[0]; ++y) {
      for (int64_t x = left < 0 ? 0 : left; x < left + w.kernel[1] && x < w.in[1]; ++x) {
        C element = Load(image[(y * w.in[1] + x) * step]);
        if (!is_max)
          value += element;
        else if (element > value || element != element)
          value = element;
        ++taps;
      }
    }
    to[i] = Store<T>(is_max ? value : value / static_cast<C>(taps));
  }
}

}  // namespace pool_cu

int32_t Pool(GrapnelCudaStream* stream, GrapnelCudaType type, int32_t max, void* to,
             const void* from, const GrapnelCudaWindow* window, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int64_t count = window->batch * window->in_channels * window->out[0] * window->out[1];
    if (count == 0) return;
    stream->Use();
    ForFloats(type, [&](auto of) {
      using T = typename decltype(of)::Type;
      PoolKernel<T><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
          max != 0, static_cast<T*>(to), static_cast<const T*>(from), count, *window);
    });
    CheckLaunch();
  });
}

}  // namespace grapnel::cuda
