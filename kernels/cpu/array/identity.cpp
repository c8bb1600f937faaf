// Ops that pass their inputs on unchanged. All but DeepCopy share the memory of the input.
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

Error PassAll(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.SetOutput(i, ctx.input(i));
  return Error::success();
}

Expected<KernelFn> MakeIdentity(const KernelSetup& setup) {
  if (setup.num_outputs() > setup.num_inputs()) {
    return MakeError("expected no more outputs than inputs, got {0} and {1}", setup.num_outputs(),
                     setup.num_inputs());
  }
  return KernelFn(PassAll);
}

Expected<KernelFn> MakeNoOp(const KernelSetup&) {
  return KernelFn([](KernelContext&) { return Error::success(); });
}

// A deep copy: the output never shares memory with the input.
Expected<KernelFn> MakeDeepCopy(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    CopyStrided(ctx, in.dtype(), {in.num_elements()}, in.raw(), {1}, out->raw(), {1});
    return Error::success();
  });
}

Expected<KernelFn> MakeEnsureShape(const KernelSetup& setup) {
  auto attr = setup.node().Attr("shape");
  Shape shape = attr ? attr->AsShape().value_or(Shape()) : Shape();
  return KernelFn([shape](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    bool fits = !shape.known_rank() || shape.rank() == in.rank();
    for (int i = 0; fits && shape.known_rank() && i < in.rank(); ++i) {
      fits = !shape.IsKnown(i) || shape.dim(i) == in.dim(i);
    }
    if (!fits) {
      return MakeError("shape of tensor is {0}, expected {1}", DimsText(in.dims()),
                       shape.ToString());
    }
    ctx.SetOutput(0, in);
    return Error::success();
  });
}

#define GRAPNEL_PASS_KERNEL(name) GRAPNEL_CPU_KERNEL(name, MakeIdentity, KernelCost::kCheap)
GRAPNEL_PASS_KERNEL("Identity");
GRAPNEL_PASS_KERNEL("IdentityN");
GRAPNEL_PASS_KERNEL("Snapshot");
GRAPNEL_PASS_KERNEL("StopGradient");
GRAPNEL_PASS_KERNEL("PreventGradient");
GRAPNEL_PASS_KERNEL("GuaranteeConst");
GRAPNEL_PASS_KERNEL("PlaceholderWithDefault");
GRAPNEL_CPU_KERNEL("NoOp", MakeNoOp, KernelCost::kCheap);
// ControlTrigger computes nothing: the executor decides when it runs.
GRAPNEL_CPU_KERNEL("ControlTrigger", MakeNoOp, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("DeepCopy", MakeDeepCopy);
GRAPNEL_CPU_KERNEL("EnsureShape", MakeEnsureShape, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
