// Convolutions of halves and their gradients, for the ops whose TensorFlow CPU kernels round each
// step of a sum. The functions add in the same order as those kernels. (TensorFlow's Conv2D
// converts to float instead.)
#ifndef GRAPNEL_KERNELS_CPU_NN_HALF_CONV_H_
#define GRAPNEL_KERNELS_CPU_NN_HALF_CONV_H_

#include "kernels/cpu/nn/plain_conv.h"

namespace grapnel {

// All values are halves held as floats, channels last; no tensor is empty; half_steps is not kNone.
// HalfVolumeConv is Conv3D.
void HalfVolumeConv(KernelContext& ctx, const ConvShape& s, const float* input, const float* filter,
                    float* output);
Error HalfInputGradient(KernelContext& ctx, const ConvShape& s, const float* filter,
                        const float* gradient, float* input);
Error HalfFilterGradient(KernelContext& ctx, const ConvShape& s, const float* input,
                         const float* gradient, float* filter);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_NN_HALF_CONV_H_
