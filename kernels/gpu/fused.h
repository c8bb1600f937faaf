// fused_ops as the CUDA module takes them: a bias and an activation.
#ifndef GRAPNEL_KERNELS_GPU_FUSED_H_
#define GRAPNEL_KERNELS_GPU_FUSED_H_

#include "kernels/gpu/gpu_kernel.h"

namespace grapnel {

struct GpuFusion {
  bool bias = false;
  GrapnelCudaActivation activation = kGrapnelCudaLinear;
  float alpha = 0;
};

// Of a node whose fused arguments start at input 2; nothing for an op that has no such attribute.
// Refuses what the CPU then runs: batch norm, an addend.
Expected<GpuFusion> ReadGpuFusion(const KernelSetup& setup);

// That the bias, input 2, is a vector over the channels.
Error CheckFusedBias(const KernelContext& ctx, const GpuFusion& fused, int64_t channels);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_GPU_FUSED_H_
