// InplaceUpdate, InplaceAdd and InplaceSub: write rows of a tensor by index. An index is taken
// modulo the number of rows, as in TensorFlow: -1 is the last row. The tensor is modified in place
// only if nothing else reads it.
#include "kernels/common/indices.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/array/scatter.h"

namespace grapnel {
namespace {

template <Combine kHow>
Expected<KernelFn> Make(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &rows = ctx.input(1), &values = ctx.input(2);
    if (rows.rank() != 1)
      return MakeError("i must be a vector, got shape {0}", DimsText(rows.dims()));
    if (in.rank() < 1) return MakeError("x must be at least a vector, got a scalar");
    if (rows.num_elements() > 0 && in.dim(0) == 0)
      return MakeError("x has no rows, but i has {0} elements", rows.num_elements());
    ASSIGN_OR_RETURN(Tensor places, ctx.Scratch(proto::DT_INT64, {rows.num_elements(), 1}));
    for (int64_t i = 0; i < rows.num_elements(); ++i) {
      int64_t row = rows.IntAt(i) % in.dim(0);
      places.data<int64_t>()[i] = row < 0 ? row + in.dim(0) : row;
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    if (out->raw() != in.raw()) CopyElements(in.dtype(), in.raw(), out->raw(), in.num_elements());
    return ScatterSlices(places, values, kHow, *out);
  });
}

GRAPNEL_CPU_KERNEL("InplaceUpdate", Make<Combine::kUpdate>);
GRAPNEL_CPU_KERNEL("InplaceAdd", Make<Combine::kAdd>);
GRAPNEL_CPU_KERNEL("InplaceSub", Make<Combine::kSub>);

}  // namespace
}  // namespace grapnel
