// Elementwise ops with one or two operands, and related ones: casts, selection, bias.
#include "kernels/common/broadcast.h"
#include "kernels/gpu/gpu_kernel.h"

namespace grapnel {
namespace {

template <GrapnelCudaUnary kOp>
Expected<KernelFn> MakeUnary(const KernelSetup& setup) {
  float alpha = kOp == kGrapnelCudaLeakyRelu ? setup.node().GetFloat("alpha", 0.2f) : 0.0f;
  return KernelFn([alpha](KernelContext& ctx) -> Error {
    Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, dims));
    return Queue(ctx, &GrapnelCudaApi::unary, kOp, CudaType(out->dtype()), out->device_data(),
                 ctx.input(0).device_data(), out->num_elements(), alpha);
  });
}

// Converts the merged dimensions of a broadcast to a walk.
Expected<GrapnelCudaWalk> WalkOf(const BroadcastPlan& plan) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>, 3> strides(plan.strides.begin(), plan.strides.end());
  return MakeWalk(plan.sizes, strides);
}

Error RunBinary(KernelContext& ctx, GrapnelCudaBinary op) {
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({a.dims(), b.dims()}));
  ASSIGN_OR_RETURN(GrapnelCudaWalk walk, WalkOf(plan));
  DataType dtype = a.dtype();
  const void *left = a.device_data(), *right = b.device_data();
  // The memory of a repeated operand cannot become the output: the operand is read again after its
  // memory would be overwritten.
  int forward = a.num_elements() == plan.total ? 0 : b.num_elements() == plan.total ? 1 : -1;
  Expected<Tensor*> out =
      forward < 0 ? ctx.Allocate(0, plan.dims) : ctx.ForwardOrAllocate(forward, 0, plan.dims);
  if (!out) return out.takeError();
  if (plan.total == 0) return Error::success();
  return Queue(ctx, &GrapnelCudaApi::binary, op, CudaType(dtype), (*out)->device_data(), left,
               right, &walk);
}

template <GrapnelCudaBinary kOp>
Expected<KernelFn> MakeBinary(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return RunBinary(ctx, kOp); });
}

// Adds several inputs one after the other, in order.
Error RunAddN(KernelContext& ctx) {
  Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).dims() != llvm::ArrayRef<int64_t>(dims))
      return MakeError("inputs must have one shape, got {0} and {1}", DimsText(dims),
                       DimsText(ctx.input(i).dims()));
  }
  if (ctx.num_inputs() == 1) {
    ctx.SetOutput(0, ctx.TakeInput(0));
    return Error::success();
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  Dims dense = DenseStrides(dims);
  ASSIGN_OR_RETURN(GrapnelCudaWalk walk, MakeWalk(dims, {dense, dense}));
  const void* sum = ctx.input(0).device_data();
  for (int i = 1; i < ctx.num_inputs() && out->num_elements() > 0; ++i) {
    RETURN_IF_ERROR(Queue(ctx, &GrapnelCudaApi::binary, kGrapnelCudaAdd, CudaType(out->dtype()),
                          out->device_data(), sum, ctx.input(i).device_data(), &walk));
    sum = out->device_data();
  }
  return Error::success();
}
Expected<KernelFn> MakeAddN(const KernelSetup&) { return KernelFn(RunAddN); }

Error RunSelect(KernelContext& ctx) {
  const Tensor &condition = ctx.input(0), &a = ctx.input(1), &b = ctx.input(2);
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({condition.dims(), a.dims(), b.dims()}));
  ASSIGN_OR_RETURN(GrapnelCudaWalk walk, WalkOf(plan));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.dims));
  if (plan.total == 0) return Error::success();
  return Queue(ctx, &GrapnelCudaApi::select, out->device_data(), condition.device_data(),
               a.device_data(), b.device_data(), static_cast<int32_t>(DataTypeSize(out->dtype())),
               &walk);
}
Expected<KernelFn> MakeSelect(const KernelSetup&) { return KernelFn(RunSelect); }

Error RunCast(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  return Queue(ctx, &GrapnelCudaApi::cast, CudaType(out->dtype()), out->device_data(),
               CudaType(in.dtype()), in.device_data(), in.num_elements());
}
Expected<KernelFn> MakeCast(const KernelSetup& setup) {
  if (!llvm::is_contained(GpuMovable(), setup.output_type(0)))
    return MakeError("no GPU kernel that casts to {0}", DataTypeName(setup.output_type(0)));
  return KernelFn(RunCast);
}

Expected<KernelFn> MakeBiasAdd(const KernelSetup& setup) {
  bool channels_first = setup.node().GetString("data_format", "NHWC") == "NCHW";
  return KernelFn([channels_first](KernelContext& ctx) -> Error {
    Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
    const Tensor& bias = ctx.input(1);
    if (dims.size() < 2)
      return MakeError("the input must have rank 2 or more, not shape {0}", DimsText(dims));
    size_t channel = channels_first ? 1 : dims.size() - 1;
    if (bias.rank() != 1 || bias.dim(0) != dims[channel]) {
      return MakeError("the bias must be a vector of {0} elements for input {1}, got shape {2}",
                       dims[channel], DimsText(dims), DimsText(bias.dims()));
    }
    llvm::ArrayRef<int64_t> all(dims);
    int64_t outer = *NumElements(all.take_front(channel)),
            inner = *NumElements(all.drop_front(channel + 1));
    const void* in = ctx.input(0).device_data();
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, dims));
    return Queue(ctx, &GrapnelCudaApi::bias, CudaType(out->dtype()), out->device_data(), in,
                 bias.device_data(), outer, dims[channel], inner, kGrapnelCudaLinear, 0.0f);
  });
}

#define UNARY(op, name) \
  GRAPNEL_GPU_KERNEL(op, MakeUnary<kGrapnelCuda##name>, OfTypes("T", GpuFloats()))
UNARY("Neg", Neg);
UNARY("Abs", Abs);
UNARY("Sign", Sign);
UNARY("Square", Square);
UNARY("Sqrt", Sqrt);
UNARY("Rsqrt", Rsqrt);
UNARY("Reciprocal", Reciprocal);
UNARY("Inv", Reciprocal);
UNARY("Exp", Exp);
UNARY("Expm1", Expm1);
UNARY("Log", Log);
UNARY("Log1p", Log1p);
UNARY("Tanh", Tanh);
UNARY("Sigmoid", Sigmoid);
UNARY("Relu", Relu);
UNARY("Relu6", Relu6);
UNARY("Elu", Elu);
UNARY("LeakyRelu", LeakyRelu);
UNARY("Softplus", Softplus);
UNARY("Softsign", Softsign);
UNARY("Erf", Erf);
UNARY("Erfc", Erfc);
UNARY("Floor", Floor);
UNARY("Ceil", Ceil);
UNARY("Rint", Rint);
UNARY("Round", Rint);
UNARY("Sin", Sin);
UNARY("Cos", Cos);
#undef UNARY

#define BINARY(op, name) \
  GRAPNEL_GPU_KERNEL(op, MakeBinary<kGrapnelCuda##name>, OfTypes("T", GpuFloats()))
BINARY("Add", Add);
BINARY("AddV2", Add);
BINARY("Sub", Sub);
BINARY("Mul", Mul);
BINARY("Div", Div);
BINARY("RealDiv", Div);
BINARY("Maximum", Maximum);
BINARY("Minimum", Minimum);
BINARY("Pow", Pow);
BINARY("SquaredDifference", SquaredDifference);
BINARY("ReluGrad", ReluGrad);
BINARY("Relu6Grad", Relu6Grad);
BINARY("TanhGrad", TanhGrad);
BINARY("SigmoidGrad", SigmoidGrad);
BINARY("SqrtGrad", SqrtGrad);
BINARY("RsqrtGrad", RsqrtGrad);
BINARY("Equal", Equal);
BINARY("NotEqual", NotEqual);
BINARY("Less", Less);
BINARY("LessEqual", LessEqual);
BINARY("Greater", Greater);
BINARY("GreaterEqual", GreaterEqual);
#undef BINARY

GRAPNEL_GPU_KERNEL("AddN", MakeAddN, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("SelectV2", MakeSelect, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("Cast", MakeCast, OfTypes("SrcT", GpuMovable()));
GRAPNEL_GPU_KERNEL("BiasAdd", MakeBiasAdd, OfTypes("T", GpuFloats()));

}  // namespace
}  // namespace grapnel
