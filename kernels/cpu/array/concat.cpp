// Ops that join or split tensors along one axis: Concat, ConcatV2, ConcatOffset, Pack, Unpack,
// Split, SplitV.
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// A tensor viewed as three dimensions: the product of those before an axis, the axis, the product
// of those after it.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
};
AxisView ViewAt(llvm::ArrayRef<int64_t> dims, int axis) {
  AxisView view;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    (d < axis ? view.outer : d == axis ? view.size : view.inner) *= dims[d];
  }
  return view;
}

// Copies rows of `length` elements; consecutive rows are `from_step` and `to_step` elements apart.
void CopyRows(KernelContext& ctx, DataType dtype, int64_t rows, int64_t length, const void* from,
              int64_t from_step, void* to, int64_t to_step) {
  CopyStrided(ctx, dtype, {rows, length}, from, {from_step, 1}, to, {to_step, 1});
}

Error Join(KernelContext& ctx, int first, int count, const Tensor& axis_tensor) {
  if (axis_tensor.num_elements() != 1) {
    return MakeError("the axis must have one element, got shape {0}", DimsText(axis_tensor.dims()));
  }
  const Tensor& front = ctx.input(first);
  ASSIGN_OR_RETURN(int axis, AxisIn(axis_tensor.IntAt(0), std::max(front.rank(), 1)));
  if (front.rank() == 0) return MakeError("scalars cannot be concatenated: use Pack");
  Dims dims(front.dims().begin(), front.dims().end());
  dims[axis] = 0;
  for (int i = 0; i < count; ++i) {
    const Tensor& in = ctx.input(first + i);
    bool fits = in.rank() == front.rank();
    for (int d = 0; fits && d < in.rank(); ++d) fits = d == axis || in.dim(d) == front.dim(d);
    if (!fits) {
      return MakeError(
          "all values must have the same shape except along axis {0}: values[0] has shape {1}, "
          "values[{2}] has shape {3}",
          axis, DimsText(front.dims()), i, DimsText(in.dims()));
    }
    dims[axis] += in.dim(axis);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  AxisView whole = ViewAt(dims, axis);
  int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    const Tensor& in = ctx.input(first + i);
    int64_t length = in.dim(axis) * whole.inner;
    CopyRows(ctx, in.dtype(), whole.outer, length, in.raw(), length, At(*out, at),
             whole.size * whole.inner);
    at += length;
  }
  return Error::success();
}

Expected<KernelFn> MakeConcatV2(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) {
    return Join(ctx, 0, ctx.num_inputs() - 1, ctx.input(ctx.num_inputs() - 1));
  });
}
Expected<KernelFn> MakeConcat(const KernelSetup&) {
  return KernelFn(
      [](KernelContext& ctx) { return Join(ctx, 1, ctx.num_inputs() - 1, ctx.input(0)); });
}

// Returns, for each shape, where its tensor starts in the concatenation.
Expected<KernelFn> MakeConcatOffset(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    Dims front = IntsOf(ctx.input(1));
    if (ctx.input(0).num_elements() != 1)
      return MakeError("the axis must have one element, got shape {0}",
                       DimsText(ctx.input(0).dims()));
    ASSIGN_OR_RETURN(int axis, AxisIn(ctx.input(0).IntAt(0), static_cast<int>(front.size())));
    int64_t offset = 0;
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      Dims shape = IntsOf(ctx.input(1 + i));
      bool fits = shape.size() == front.size();
      for (int d = 0; fits && d < static_cast<int>(shape.size()); ++d)
        fits = d == axis || shape[d] == front[d];
      if (!fits) {
        return MakeError("all shapes must agree except along axis {0}, got {1} and {2}", axis,
                         DimsText(front), DimsText(shape));
      }
      ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(i, {static_cast<int64_t>(shape.size())}));
      for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
        int64_t value = d == axis ? offset : 0;
        if (out->dtype() == proto::DT_INT64)
          out->data<int64_t>()[d] = value;
        else
          out->data<int32_t>()[d] = static_cast<int32_t>(value);
      }
      offset += shape[axis];
    }
    return Error::success();
  });
}

Expected<KernelFn> MakePack(const KernelSetup& setup) {
  int64_t axis_attr = setup.node().GetInt("axis");
  return KernelFn([axis_attr](KernelContext& ctx) -> Error {
    const Tensor& front = ctx.input(0);
    ASSIGN_OR_RETURN(int axis, AxisIn(axis_attr, front.rank() + 1));
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).dims() != front.dims()) {
        return MakeError(
            "shapes of all inputs must match: input 0 has shape {0}, input {1} has shape {2}",
            DimsText(front.dims()), i, DimsText(ctx.input(i).dims()));
      }
    }
    Dims dims(front.dims().begin(), front.dims().end());
    dims.insert(dims.begin() + axis, ctx.num_inputs());
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->num_elements() == 0) return Error::success();
    AxisView view = ViewAt(dims, axis);
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      CopyRows(ctx, front.dtype(), view.outer, view.inner, ctx.input(i).raw(), view.inner,
               At(*out, i * view.inner), view.size * view.inner);
    }
    return Error::success();
  });
}

// Splits `in`: output i has size sizes[i] along the axis. `drop_axis` removes the axis; then every
// size is 1.
Error TakeApart(KernelContext& ctx, const Tensor& in, int axis, llvm::ArrayRef<int64_t> sizes,
                bool drop_axis) {
  AxisView view = ViewAt(in.dims(), axis);
  int64_t at = 0;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    Dims dims(in.dims().begin(), in.dims().end());
    if (drop_axis)
      dims.erase(dims.begin() + axis);
    else
      dims[axis] = sizes[i];
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(i, dims));
    int64_t length = sizes[i] * view.inner;
    if (out->num_elements() > 0) {
      CopyRows(ctx, in.dtype(), view.outer, length, At(in, at), view.size * view.inner, out->raw(),
               length);
    }
    at += length;
  }
  return Error::success();
}

Expected<KernelFn> MakeUnpack(const KernelSetup& setup) {
  int64_t axis_attr = setup.node().GetInt("axis");
  return KernelFn([axis_attr](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(int axis, AxisIn(axis_attr, in.rank()));
    if (in.dim(axis) != ctx.num_outputs()) {
      return MakeError(
          "dimension {0} of the input must be {1}, the number of outputs, got shape {2}", axis,
          ctx.num_outputs(), DimsText(in.dims()));
    }
    return TakeApart(ctx, in, axis, Dims(ctx.num_outputs(), 1), true);
  });
}

Expected<KernelFn> MakeSplit(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(1);
    if (ctx.input(0).num_elements() != 1) return MakeError("split_dim must have one element");
    ASSIGN_OR_RETURN(int axis, AxisIn(ctx.input(0).IntAt(0), in.rank()));
    int64_t parts = ctx.num_outputs();
    if (in.dim(axis) % parts != 0) {
      return MakeError(
          "the number of ways to split must evenly divide dimension {0} (size {1}), got {2}", axis,
          in.dim(axis), parts);
    }
    return TakeApart(ctx, in, axis, Dims(parts, in.dim(axis) / parts), false);
  });
}

Expected<KernelFn> MakeSplitV(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (ctx.input(1).rank() != 1)
      return MakeError("size_splits must be a vector, got shape {0}",
                       DimsText(ctx.input(1).dims()));
    Dims sizes = IntsOf(ctx.input(1));
    if (ctx.input(2).num_elements() != 1) return MakeError("split_dim must have one element");
    ASSIGN_OR_RETURN(int axis, AxisIn(ctx.input(2).IntAt(0), in.rank()));
    if (static_cast<int>(sizes.size()) != ctx.num_outputs()) {
      return MakeError("size_splits must have {0} sizes, one per output, got {1}",
                       ctx.num_outputs(), sizes.size());
    }
    int unknown = -1;
    int64_t known = 0;
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      if (sizes[i] == -1 && unknown < 0 && ctx.num_outputs() > 1)
        unknown = i;
      else if (sizes[i] < 0)
        return MakeError("split size {0} of {1} is negative; only one of several sizes may be -1",
                         sizes[i], IntsText(sizes));
      else if (__builtin_add_overflow(known, sizes[i], &known))
        return MakeError("the sum of split sizes {0} overflows 64 bits", IntsText(sizes));
    }
    if (unknown >= 0 ? known > in.dim(axis) : known != in.dim(axis)) {
      return MakeError(
          "split sizes {0} must add up to dimension {1} (size {2}), or to no more if one of them "
          "is -1",
          IntsText(sizes), axis, in.dim(axis));
    }
    if (unknown >= 0) sizes[unknown] = in.dim(axis) - known;
    return TakeApart(ctx, in, axis, sizes, false);
  });
}

GRAPNEL_CPU_KERNEL("ConcatV2", MakeConcatV2);
GRAPNEL_CPU_KERNEL("Concat", MakeConcat);
GRAPNEL_CPU_KERNEL("ConcatOffset", MakeConcatOffset, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Pack", MakePack);
GRAPNEL_CPU_KERNEL("Unpack", MakeUnpack);
GRAPNEL_CPU_KERNEL("Split", MakeSplit);
GRAPNEL_CPU_KERNEL("SplitV", MakeSplitV);

}  // namespace
}  // namespace grapnel
