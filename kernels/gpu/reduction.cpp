// Sum, Mean, Max, Min and Prod over any axes, and BiasAddGrad, which is a Sum.
#include "kernels/gpu/gpu_kernel.h"

namespace grapnel {
namespace {

// The module merges neighboring dimensions that are both kept or both reduced.
Error QueueReduction(KernelContext& ctx, GrapnelCudaReduction op, uint32_t reduced,
                     llvm::ArrayRef<int64_t> out_dims) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, out_dims));
  return Queue(ctx, &GrapnelCudaApi::reduce, op, CudaType(in.dtype()), out->device_data(),
               in.device_data(), static_cast<int32_t>(in.rank()), in.dims().data(), reduced);
}

template <GrapnelCudaReduction kOp>
Expected<KernelFn> MakeReduction(const KernelSetup& setup) {
  bool keep_dims = setup.node().GetBool("keep_dims");
  return KernelFn([keep_dims](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &axes = ctx.input(1);
    constexpr int kMostDims = 32;
    if (in.rank() > kMostDims)
      return MakeError("an input of {0} dimensions: {1} at most were expected", in.rank(),
                       kMostDims);
    uint32_t reduced = 0;
    for (int64_t i = 0; i < axes.num_elements(); ++i) {
      int64_t axis = axes.IntAt(i);
      if (axis < -in.rank() || axis >= in.rank()) {
        return MakeError("axis {0} is out of range for an input of {1} dimensions", axis,
                         in.rank());
      }
      reduced |= 1u << (axis < 0 ? axis + in.rank() : axis);
    }
    Dims dims;
    for (int d = 0; d < in.rank(); ++d) {
      if (!(reduced >> d & 1)) {
        dims.push_back(in.dim(d));
      } else if (keep_dims) {
        dims.push_back(1);
      }
    }
    return QueueReduction(ctx, kOp, reduced, dims);
  });
}

Expected<KernelFn> MakeBiasAddGrad(const KernelSetup& setup) {
  bool channels_first = setup.node().GetString("data_format", "NHWC") == "NCHW";
  return KernelFn([channels_first](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (in.rank() < 2)
      return MakeError("the gradient must have rank 2 or more, not shape {0}", DimsText(in.dims()));
    int channel = channels_first ? 1 : in.rank() - 1;
    uint32_t all = (uint64_t{1} << in.rank()) - 1;
    return QueueReduction(ctx, kGrapnelCudaSum, all & ~(1u << channel), {in.dim(channel)});
  });
}

#define REDUCTION(name)                                                                   \
  GRAPNEL_GPU_KERNEL(#name, MakeReduction<kGrapnelCuda##name>, OfTypes("T", GpuFloats()), \
                     HostInputs({1}))
REDUCTION(Sum);
REDUCTION(Mean);
REDUCTION(Max);
REDUCTION(Min);
REDUCTION(Prod);
#undef REDUCTION
GRAPNEL_GPU_KERNEL("BiasAddGrad", MakeBiasAddGrad, OfTypes("T", GpuFloats()));

}  // namespace
}  // namespace grapnel
