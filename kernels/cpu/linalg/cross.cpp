// Cross: the cross product of three-element vectors in the last dimension.
#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"

namespace grapnel {
namespace {

Error Run(KernelContext& ctx) {
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  if (a.dims() != b.dims())
    return MakeError("both inputs must have the same shape: {0} vs. {1}", DimsText(a.dims()),
                     DimsText(b.dims()));
  if (a.rank() < 1 || a.dim(a.rank() - 1) != 3)
    return MakeError("the last dimension must have 3 elements, got shape {0}", DimsText(a.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, a.dims()));
  bool known = ForType(a.dtype(), RealTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ctx.ParallelFor(a.num_elements() / 3, 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T *u = a.data<T>() + 3 * i, *v = b.data<T>() + 3 * i;
        T* w = out->data<T>() + 3 * i;
        for (int k = 0; k < 3; ++k) {
          int l = (k + 1) % 3, m = (k + 2) % 3;
          w[k] = SubOf<T>(MulOf(u[l], v[m]), MulOf(u[m], v[l]));
        }
      }
    });
    return true;
  });
  return known ? Error::success() : MakeError("no kernel for dtype {0}", DataTypeName(a.dtype()));
}

GRAPNEL_CPU_KERNEL("Cross", KernelOf<Run>, OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
