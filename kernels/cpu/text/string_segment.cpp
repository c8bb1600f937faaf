// UnsortedSegmentJoin: concatenates the strings with the same segment id.
#include "kernels/common/indices.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

Error Join(KernelContext& ctx, llvm::StringRef separator) {
  const Tensor &in = ctx.input(0), &ids = ctx.input(1);
  if (ctx.input(2).num_elements() != 1) return MakeError("num_segments must have one element");
  int64_t segments = ctx.input(2).IntAt(0);
  if (segments < 0) return MakeError("num_segments must not be negative, got {0}", segments);
  if (ids.rank() == 0) return MakeError("segment_ids must not be a scalar");
  if (ids.rank() > in.rank() || in.dims().take_front(ids.rank()) != ids.dims())
    return MakeError("the inputs' shape {0} does not start with that of segment_ids, {1}",
                     DimsText(in.dims()), DimsText(ids.dims()));
  Dims dims = {segments};
  dims.append(in.dims().begin() + ids.rank(), in.dims().end());
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  int64_t width = NumElements(in.dims().drop_front(ids.rank())).value_or(0);
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    int64_t id = ids.IntAt(i);
    if (id < 0 || id >= segments)
      return MakeError("segment_ids{0} = {1} is not in [0, {2})", PositionText(ids.dims(), i), id,
                       segments);
    for (int64_t c = 0; c < width; ++c) {
      std::string& to = out->data<std::string>()[id * width + c];
      // No separator follows strings that are all empty, as in TensorFlow.
      if (!to.empty()) to.append(separator.begin(), separator.end());
      to += in.data<std::string>()[i * width + c];
    }
  }
  return Error::success();
}

Expected<KernelFn> MakeJoin(const KernelSetup& setup) {
  return KernelFn([separator = setup.node().GetString("separator")](KernelContext& ctx) {
    return Join(ctx, separator);
  });
}

GRAPNEL_CPU_KERNEL("UnsortedSegmentJoin", MakeJoin);

}  // namespace
}  // namespace grapnel
