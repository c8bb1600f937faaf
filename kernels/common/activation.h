// The activations of fused ops. C types only: modules loaded on demand include this header too.
#ifndef GRAPNEL_KERNELS_COMMON_ACTIVATION_H_
#define GRAPNEL_KERNELS_COMMON_ACTIVATION_H_

extern "C" {

typedef enum GrapnelActivation {
  kGrapnelLinear = 0,
  kGrapnelRelu,
  kGrapnelRelu6,
  kGrapnelElu,
  kGrapnelLeakyRelu,
  kGrapnelTanh,
  kGrapnelSigmoid,
  kGrapnelGeluExact,
  kGrapnelGeluApproximate,
  kGrapnelSwish,
  kGrapnelMish,
} GrapnelActivation;

}  // extern "C"

#endif  // GRAPNEL_KERNELS_COMMON_ACTIVATION_H_
