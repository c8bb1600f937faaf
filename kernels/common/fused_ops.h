// The fused_ops attribute of _FusedConv2D, _FusedMatMul and similar ops.
#ifndef GRAPNEL_KERNELS_COMMON_FUSED_OPS_H_
#define GRAPNEL_KERNELS_COMMON_FUSED_OPS_H_

#include "kernels/common/epilogue.h"

namespace grapnel {

struct FusedOps {
  bool bias = false;
  bool batch_norm = false;
  bool add = false;
  GrapnelActivation activation = kGrapnelLinear;
  float alpha = 0, epsilon = 0;
  int num_args() const { return bias ? (add ? 2 : 1) : batch_norm ? 4 : 0; }
};

// Reads the attribute of a node whose fused arguments start at input 2: bias[, addend], or scale,
// offset, mean, variance. Checks the combination of ops and the number of arguments. Without the
// attribute, nothing is fused.
Expected<FusedOps> ReadFusedOps(const KernelSetup& setup);

// True for shapes [channels] and [1, ..., 1, channels]. The second shape occurs when an Add was
// fused as a bias: the Add's operand keeps its shape.
bool IsVectorOf(const Tensor& tensor, int64_t channels);

// Returns the fused arguments of one run as vectors and an addend, checked against the output [...,
// channels]. Batch norm becomes a scale and a bias. `storage` owns all memory that the epilogue
// points to.
template <typename T>
Expected<Epilogue<T>> MakeEpilogue(KernelContext& ctx, const FusedOps& fused, int64_t channels,
                                   llvm::ArrayRef<int64_t> output_dims,
                                   llvm::SmallVectorImpl<Tensor>& storage);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_FUSED_OPS_H_
