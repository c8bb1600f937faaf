// Slice and StridedSlice: one strided copy, or no copy when the result is a dense, aligned part of
// the input.
#include "kernels/common/slice_spec.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// Outputs the elements of the box with shape `dims`. If the box consists of consecutive whole rows
// of the first dimension, from an aligned offset on, the output shares the input's memory, except
// for strings and objects.
Error TakeBox(KernelContext& ctx, const SliceBox& box, llvm::ArrayRef<int64_t> dims) {
  const Tensor& in = ctx.input(0);
  bool whole = true;  // true if the box spans every dimension but the first
  for (int d = 0; d < in.rank(); ++d) {
    whole &= (d == 0 ? box.stride[d] == 1
                     : box.begin[d] == 0 && box.stride[d] == 1 && box.size[d] == in.dim(d));
  }
  if (whole && DataTypeSize(in.dtype()) != 0) {
    Tensor part = in.rank() > 0 ? in.Slice(box.begin[0], box.begin[0] + box.size[0]) : in;
    // Other kernels read aligned vectors: on a part that starts in the middle of a vector they
    // would be slow, and oneDNN would reject it. Such a part is copied.
    if (part.offset() % 64 == 0) {
      ctx.SetOutput(0, part.Reshaped(dims));
      return Error::success();
    }
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  CopyStrided(ctx, in.dtype(), box.size, At(in, box.Start(in.dims())), box.Steps(in.dims()),
              out->raw(), RowMajorStrides(box.size));
  return Error::success();
}

Error Slice(KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &begins = ctx.input(1), &sizes = ctx.input(2);
  if (begins.rank() != 1 || sizes.rank() != 1 || begins.num_elements() != in.rank() ||
      sizes.num_elements() != in.rank()) {
    return MakeError(
        "expected begin and size to be vectors of {0} elements, got shapes {1} and {2}", in.rank(),
        DimsText(begins.dims()), DimsText(sizes.dims()));
  }
  SliceBox box;
  for (int d = 0; d < in.rank(); ++d) {
    int64_t begin = begins.IntAt(d), size = sizes.IntAt(d);
    if (begin < 0 || begin > in.dim(d)) {
      return MakeError("expected begin[{0}] in [0, {1}], got {2}", d, in.dim(d), begin);
    }
    if (size == -1) size = in.dim(d) - begin;
    if (size < 0 || size > in.dim(d) - begin) {
      return MakeError("expected size[{0}] in [0, {1}] or -1, got {2}", d, in.dim(d) - begin, size);
    }
    box.begin.push_back(begin);
    box.size.push_back(size);
    box.stride.push_back(1);
  }
  return TakeBox(ctx, box, box.size);
}

Expected<KernelFn> MakeSlice(const KernelSetup&) { return KernelFn(Slice); }

Expected<KernelFn> MakeStridedSlice(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(SliceMasks masks, SliceMasksOf(setup.node()));
  return KernelFn([masks](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(SliceSpec spec, ReadSliceSpec(ctx.input(0).dims(), ctx.input(1), ctx.input(2),
                                                   ctx.input(3), masks));
    return TakeBox(ctx, spec.box, spec.dims);
  });
}

GRAPNEL_CPU_KERNEL("Slice", MakeSlice);
GRAPNEL_CPU_KERNEL("StridedSlice", MakeStridedSlice);

}  // namespace
}  // namespace grapnel
