// fused_ops as the CUDA module supports them: a bias and an activation.
#ifndef GRAPNEL_KERNELS_GPU_FUSED_H_
#define GRAPNEL_KERNELS_GPU_FUSED_H_

#include "kernels/gpu/gpu_kernel.h"

namespace grapnel {

struct GpuFusion {
  bool bias = false;
  GrapnelCudaActivation activation = kGrapnelCudaLinear;
  float alpha = 0;
};

// Reads the attribute of a node whose fused arguments start at input 2; empty for an op without it.
// Fails on batch norm, an addend, Swish and Mish: such a node runs on the CPU.
Expected<GpuFusion> ReadGpuFusion(const KernelSetup& setup);

// Checks that the bias (input 2), if one is fused, is a vector over the channels.
Error CheckFusedBias(const KernelContext& ctx, const GpuFusion& fused, int64_t channels);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_GPU_FUSED_H_
