// Ops that write where StridedSlice reads: its gradient, TensorStridedSliceUpdate and the
// assignments to a part of a variable. The value broadcasts to the part, except for the gradient.
#include <cstring>

#include "kernels/common/slice_spec.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/state/variable.h"

namespace grapnel {
namespace {

// Returns the strides of `value` for each dimension of the box, 0 where the value repeats. The
// shape of the slice has the box's dimensions without those that a single index removes, plus those
// of size 1 that None adds. A broadcast value may have additional leading dimensions of size 1.
Expected<Dims> ValueSteps(const Tensor& value, const SliceSpec& spec, bool broadcast) {
  int skip = static_cast<int>(spec.dims.size()) - value.rank();
  bool fits = true;
  for (int d = 0; fits && d < value.rank(); ++d)
    fits =
        (broadcast && value.dim(d) == 1) || (skip + d >= 0 && value.dim(d) == spec.dims[skip + d]);
  if (!fits || (!broadcast && skip != 0))
    return MakeError("a value of shape {0} does not fit a slice of shape {1}",
                     DimsText(value.dims()), DimsText(spec.dims));
  Dims strides = RowMajorStrides(value.dims()), steps;
  // The box's dimensions of more than one element appear in the slice's shape in the same order.
  size_t at = 0;
  for (int64_t size : spec.box.size) {
    if (size == 1) {
      steps.push_back(0);
      continue;
    }
    while (spec.dims[at] == 1) ++at;
    int d = static_cast<int>(at++) - skip;
    steps.push_back(d >= 0 && value.dim(d) != 1 ? strides[d] : 0);
  }
  return steps;
}

// The caller must own `target` exclusively.
Error WriteSlice(KernelContext& ctx, Tensor& target, int begin_input, const Tensor& value,
                 const SliceMasks& masks, bool broadcast) {
  ASSIGN_OR_RETURN(SliceSpec spec,
                   ReadSliceSpec(target.dims(), ctx.input(begin_input), ctx.input(begin_input + 1),
                                 ctx.input(begin_input + 2), masks));
  bool is_empty = NumElements(spec.box.size).value_or(0) == 0;
  // A value for an empty slice may have any shape, as in TensorFlow.
  if (is_empty && broadcast) return Error::success();
  ASSIGN_OR_RETURN(Dims steps, ValueSteps(value, spec, broadcast));
  if (is_empty) return Error::success();
  CopyStrided(ctx, target.dtype(), spec.box.size, value.raw(), steps,
              At(target, spec.box.Start(target.dims())), spec.box.Steps(target.dims()));
  return Error::success();
}

Expected<KernelFn> MakeGradient(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(SliceMasks masks, SliceMasksOf(setup.node()));
  return KernelFn([masks](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    std::memset(out->raw(), 0, out->byte_size());
    return WriteSlice(ctx, *out, 1, ctx.input(4), masks, false);
  });
}

Expected<KernelFn> MakeUpdate(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(SliceMasks masks, SliceMasksOf(setup.node()));
  return KernelFn([masks](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    if (out->raw() != in.raw()) CopyElements(in.dtype(), in.raw(), out->raw(), in.num_elements());
    return WriteSlice(ctx, *out, 1, ctx.input(4), masks, true);
  });
}

Expected<KernelFn> MakeAssign(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(SliceMasks masks, SliceMasksOf(setup.node()));
  return KernelFn([masks](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
    const Tensor& value = ctx.input(4);
    RETURN_IF_ERROR(ChangeVariable(ctx, *variable, [&](Tensor& target) -> Error {
      if (target.dtype() != value.dtype())
        return MakeError("variable '{0}' has dtype {1}, but the value has dtype {2}",
                         variable->name(), DataTypeName(target.dtype()),
                         DataTypeName(value.dtype()));
      return WriteSlice(ctx, target, 1, value, masks, true);
    }));
    PassReference(ctx);
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("StridedSliceGrad", MakeGradient);
GRAPNEL_CPU_KERNEL("TensorStridedSliceUpdate", MakeUpdate);
GRAPNEL_CPU_KERNEL("StridedSliceAssign", MakeAssign);
GRAPNEL_CPU_KERNEL("ResourceStridedSliceAssign", MakeAssign);

}  // namespace
}  // namespace grapnel
