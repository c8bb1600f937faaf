// Ops that TensorFlow's debugger leaves in a graph: DebugIdentity and its versions pass their input
// on, DebugNanCount counts. They write no debug files; use `run --tap` to inspect tensors.
#include <cmath>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

Expected<KernelFn> MakeIdentity(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ctx.SetOutput(0, ctx.TakeInput(0));
    return Error::success();
  });
}

template <typename T>
int64_t CountNan(const Tensor& tensor) {
  const T* values = tensor.data<T>();
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    count += std::isnan(static_cast<double>(values[i]));
  return count;
}

Expected<KernelFn> MakeNanCount(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {1}));
    *out->data<int64_t>() = ForType(in.dtype(), FloatTypes(), [&](auto tag) {
      return CountNan<typename decltype(tag)::type>(in);
    });
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("DebugIdentity", MakeIdentity, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("DebugIdentityV2", MakeIdentity, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("DebugIdentityV3", MakeIdentity, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("DebugNanCount", MakeNanCount, OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
