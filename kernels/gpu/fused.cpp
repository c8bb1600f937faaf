#include "kernels/gpu/fused.h"

#include "kernels/common/fused_ops.h"

namespace grapnel {

Expected<GpuFusion> ReadGpuFusion(const KernelSetup& setup) {
  GpuFusion fusion;
  if (setup.num_inputs() <= 2 && !setup.node().FindAttr("fused_ops")) return fusion;
  ASSIGN_OR_RETURN(FusedOps fused, ReadFusedOps(setup));
  if (fused.batch_norm || fused.add)
    return MakeError("no GPU kernel that is fused with batch norm or an addend");
  fusion.bias = fused.bias;
  fusion.alpha = fused.alpha;
  switch (fused.activation) {
    case kGrapnelLinear:
      break;
    case kGrapnelRelu:
      fusion.activation = kGrapnelCudaFusedRelu;
      break;
    case kGrapnelRelu6:
      fusion.activation = kGrapnelCudaFusedRelu6;
      break;
    case kGrapnelElu:
      fusion.activation = kGrapnelCudaFusedElu;
      break;
    case kGrapnelLeakyRelu:
      fusion.activation = kGrapnelCudaFusedLeakyRelu;
      break;
    case kGrapnelTanh:
      fusion.activation = kGrapnelCudaFusedTanh;
      break;
    case kGrapnelSigmoid:
      fusion.activation = kGrapnelCudaFusedSigmoid;
      break;
    case kGrapnelGeluExact:
      fusion.activation = kGrapnelCudaFusedGeluExact;
      break;
    case kGrapnelGeluApproximate:
      fusion.activation = kGrapnelCudaFusedGeluApproximate;
      break;
    case kGrapnelSwish:
    case kGrapnelMish:
      return MakeError("no GPU kernel that is fused with Swish or Mish");
  }
  return fusion;
}

Error CheckFusedBias(const KernelContext& ctx, const GpuFusion& fused, int64_t channels) {
  if (!fused.bias) return Error::success();
  const Tensor& bias = ctx.input(2);
  if (IsVectorOf(bias, channels)) return Error::success();
  return MakeError("the bias must be a vector of {0} elements, got shape {1}", channels,
                   DimsText(bias.dims()));
}

}  // namespace grapnel
