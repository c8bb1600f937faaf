// ArgMax and ArgMin: the index of the largest or smallest element along an axis; the first of equal
// ones.
#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

using ArgTypes = Join<RealTypes, TypeList<bool>>;
using ArgFn = int64_t (*)(const void* in, int64_t n, int64_t stride);

// NaN never compares as larger or smaller, so a later NaN is ignored and a leading NaN wins.
template <typename T, bool kMax>
int64_t ArgOf(const void* pin, int64_t n, int64_t stride) {
  const T* in = static_cast<const T*>(pin);
  int64_t best = 0;
  T value = in[0];
  for (int64_t i = 1; i < n; ++i) {
    T x = in[i * stride];
    if (kMax ? x > value : x < value) {
      value = x;
      best = i;
    }
  }
  return best;
}

Error ArgReduce(KernelContext& ctx, ArgFn arg) {
  const Tensor &in = ctx.input(0), &axis_tensor = ctx.input(1);
  if (axis_tensor.num_elements() != 1) {
    return MakeError("dimension must have one element, got shape {0}",
                     DimsText(axis_tensor.dims()));
  }
  ASSIGN_OR_RETURN(int axis, AxisIn(axis_tensor.IntAt(0), in.rank()));
  int64_t n = in.dim(axis), inner = 1;
  if (n == 0)
    return MakeError("reduction axis {0} is empty in shape {1}", axis, DimsText(in.dims()));
  Dims dims;
  for (int d = 0; d < in.rank(); ++d) {
    if (d != axis) dims.push_back(in.dim(d));
    if (d > axis) inner *= in.dim(d);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  ctx.ParallelFor(out->num_elements(), 3 + n * 1.0, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t best = arg(At(in, i / inner * n * inner + i % inner), n, inner);
      switch (out->dtype()) {
        case proto::DT_INT32:
          out->data<int32_t>()[i] = static_cast<int32_t>(best);
          break;
        case proto::DT_INT16:
        case proto::DT_UINT16:
          out->data<int16_t>()[i] = static_cast<int16_t>(best);
          break;
        default:
          out->data<int64_t>()[i] = best;
      }
    }
  });
  return Error::success();
}

template <bool kMax>
Expected<KernelFn> MakeArg(const KernelSetup& setup) {
  ArgFn arg = ForType(setup.input_type(0), ArgTypes(),
                      [](auto tag) -> ArgFn { return &ArgOf<typename decltype(tag)::type, kMax>; });
  if (!arg) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  return KernelFn([arg](KernelContext& ctx) { return ArgReduce(ctx, arg); });
}

GRAPNEL_CPU_KERNEL("ArgMax", MakeArg<true>, OfTypes("T", DataTypesOf(ArgTypes())));
GRAPNEL_CPU_KERNEL("ArgMin", MakeArg<false>, OfTypes("T", DataTypesOf(ArgTypes())));

}  // namespace
}  // namespace grapnel
