// The two gradients of a convolution: matrix products of the output gradients with the filter or
// with input patches; direct loops for depthwise convolutions; half_conv.h for halves that round at
// each step.
#ifndef GRAPNEL_KERNELS_CPU_NN_PLAIN_CONV_GRADIENT_H_
#define GRAPNEL_KERNELS_CPU_NN_PLAIN_CONV_GRADIENT_H_

#include "kernels/cpu/nn/plain_conv.h"

namespace grapnel {

// T is float, double or int32. `input` and `gradient` (of the output) have the layout that
// channels_first says. The order of additions depends only on shapes, never on threads.
template <typename T>
Error ConvInputGradient(KernelContext& ctx, const ConvShape& shape, const T* filter,
                        const T* gradient, T* input);

// T is float or double.
template <typename T>
Error ConvFilterGradient(KernelContext& ctx, const ConvShape& shape, const T* input,
                         const T* gradient, T* filter);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_NN_PLAIN_CONV_GRADIENT_H_
