// Convolutions without oneDNN: matrix products of im2col patches, direct loops for depthwise ones,
// and half_conv.h for volumes of halves.
#ifndef GRAPNEL_KERNELS_CPU_NN_PLAIN_CONV_H_
#define GRAPNEL_KERNELS_CPU_NN_PLAIN_CONV_H_

#include "kernels/common/epilogue.h"
#include "kernels/common/window.h"

namespace grapnel {

// A convolution with a filter [spatial..., in_channels / groups, out_channels].
struct ConvShape {
  Window window;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  bool channels_first = false;
  // For halves held as floats: how TensorFlow rounds each step of a sum. kImage and kVolume require
  // a single group.
  enum class HalfSteps { kNone, kDepthwise, kImage, kVolume };
  HalfSteps half_steps = HalfSteps::kNone;

  int64_t patch() const {
    return window[0].kernel * window[1].kernel * window[2].kernel * (in_channels / groups);
  }
  int64_t positions() const {
    return batch * window[0].out * window[1].out * window[2].out;
  }  // of the output
  int64_t pixels() const {
    return batch * window[0].in * window[1].in * window[2].in;
  }  // of the input
  double flops() const { return 2.0 * positions() * patch() * out_channels; }
};

// True if each input channel has its own filters. With a single channel this is a matter of
// definition: true only if half_steps is kDepthwise.
inline bool IsDepthwise(const ConvShape& s) {
  return s.in_channels == s.groups &&
         (s.groups > 1 || s.half_steps == ConvShape::HalfSteps::kDepthwise);
}

// T is float, double or int32. Input and output have the layout that channels_first says; so does
// the epilogue's addend, which must not share memory with the output.
template <typename T>
Error PlainConv(KernelContext& ctx, const ConvShape& shape, const T* input, const T* filter,
                T* output, const Epilogue<T>& epilogue);

// [batch, rows, columns] -> [batch, columns, rows], on all threads.
template <typename T>
void TransposePlanes(KernelContext& ctx, const T* in, T* out, int64_t batch, int64_t rows,
                     int64_t columns);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_NN_PLAIN_CONV_H_
