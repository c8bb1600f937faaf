// Ops that enlarge or rearrange the input: Pad, PadV2, MirrorPad, Tile, BroadcastTo, Reverse,
// ReverseV2, Roll.
#include <cstring>

#include "kernels/common/padding.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

struct Padding : Paddings {
  Dims dims;  // of the result
};

Expected<Padding> ReadPadding(const Tensor& in, const Tensor& paddings) {
  ASSIGN_OR_RETURN(Paddings read, ReadPaddings(in, paddings));
  Padding pad{std::move(read), {}};
  for (int d = 0; d < in.rank(); ++d) {
    int64_t dim;
    if (__builtin_add_overflow(pad.before[d], pad.after[d], &dim) ||
        __builtin_add_overflow(dim, in.dim(d), &dim)) {
      return MakeError("padded dimension {0} is too large", d);
    }
    pad.dims.push_back(dim);
  }
  return pad;
}

Error Pad(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Padding pad, ReadPadding(in, ctx.input(1)));
  if (ctx.num_inputs() > 2 && ctx.input(2).num_elements() != 1) {
    return MakeError("constant_values must have one element, got shape {0}",
                     DimsText(ctx.input(2).dims()));
  }
  if (llvm::ArrayRef<int64_t>(pad.dims) == in.dims()) {
    ctx.SetOutput(0, in);
    return Error::success();
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, pad.dims));
  if (out->num_elements() == 0) return Error::success();
  if (ctx.num_inputs() > 2) {
    FillElements(ctx, out->dtype(), out->raw(), out->num_elements(), ctx.input(2).raw());
  } else if (out->dtype() != proto::DT_STRING) {
    static const char kZeros[16] = {};
    FillElements(ctx, out->dtype(), out->raw(), out->num_elements(), kZeros);
  }
  Dims strides = RowMajorStrides(pad.dims);
  int64_t start = 0;
  for (int d = 0; d < in.rank(); ++d) start += pad.before[d] * strides[d];
  CopyStrided(ctx, in.dtype(), in.dims(), in.raw(), RowMajorStrides(in.dims()), At(*out, start),
              strides);
  return Error::success();
}
Expected<KernelFn> MakePad(const KernelSetup&) { return KernelFn(Pad); }

// Copies the middle and then, axis by axis, the margins. A margin is a copy of elements already
// written to the output, so that the corners come from margins. REFLECT skips the border element,
// SYMMETRIC repeats it.
Expected<KernelFn> MakeMirrorPad(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(int64_t skip, MirrorSkip(setup.node()));
  return KernelFn([skip](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Padding pad, ReadPadding(in, ctx.input(1)));
    for (int d = 0; d < in.rank(); ++d) {
      if (std::max(pad.before[d], pad.after[d]) > in.dim(d) - skip) {
        return MakeError("paddings {0} and {1} of dimension {2} must be no greater than {3}",
                         pad.before[d], pad.after[d], d, in.dim(d) - skip);
      }
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, pad.dims));
    if (out->num_elements() == 0) return Error::success();
    Dims strides = RowMajorStrides(pad.dims), size(in.dims().begin(), in.dims().end());
    int64_t start = 0;
    for (int d = 0; d < in.rank(); ++d) start += pad.before[d] * strides[d];
    CopyStrided(ctx, in.dtype(), in.dims(), in.raw(), RowMajorStrides(in.dims()), At(*out, start),
                strides);
    for (int d = in.rank(); d-- > 0;) {
      Dims margin = size, backwards = strides;
      backwards[d] = -strides[d];
      int64_t last = start + (in.dim(d) - 1) * strides[d];
      margin[d] = pad.before[d];
      CopyStrided(ctx, in.dtype(), margin,
                  At(*out, start + (pad.before[d] - 1 + skip) * strides[d]), backwards,
                  At(*out, start - pad.before[d] * strides[d]), strides);
      margin[d] = pad.after[d];
      CopyStrided(ctx, in.dtype(), margin, At(*out, last - skip * strides[d]), backwards,
                  At(*out, last + strides[d]), strides);
      start -= pad.before[d] * strides[d];
      size[d] = pad.dims[d];
    }
    return Error::success();
  });
}

// For the copy, each dimension becomes two: the repetitions, with stride 0 in the input, and the
// dimension itself.
Error Tile(KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &multiples = ctx.input(1);
  if (multiples.rank() != 1 || multiples.num_elements() != in.rank()) {
    return MakeError("expected multiples to be a vector of {0} elements, got shape {1}", in.rank(),
                     DimsText(multiples.dims()));
  }
  Dims dims, sizes, from, in_strides = RowMajorStrides(in.dims());
  for (int d = 0; d < in.rank(); ++d) {
    int64_t times = multiples.IntAt(d), dim;
    if (times < 0) return MakeError("expected multiples[{0}] >= 0, got {1}", d, times);
    if (__builtin_mul_overflow(times, in.dim(d), &dim))
      return MakeError("tiled dimension {0} is too large", d);
    dims.push_back(dim);
    sizes.append({times, in.dim(d)});
    from.append({0, in_strides[d]});
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  CopyStrided(ctx, in.dtype(), sizes, in.raw(), from, out->raw(), RowMajorStrides(sizes));
  return Error::success();
}
Expected<KernelFn> MakeTile(const KernelSetup&) { return KernelFn(Tile); }

Error BroadcastTo(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(1)));
  int skip = static_cast<int>(dims.size()) - in.rank();
  Dims from(dims.size(), 0), in_strides = RowMajorStrides(in.dims());
  bool fits = skip >= 0;
  for (int d = 0; fits && d < in.rank(); ++d) {
    fits = in.dim(d) == 1 || in.dim(d) == dims[skip + d];
    if (in.dim(d) != 1) from[skip + d] = in_strides[d];
  }
  if (!fits)
    return MakeError("incompatible shapes: {0} vs. {1}", DimsText(in.dims()), DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  CopyStrided(ctx, in.dtype(), dims, in.raw(), from, out->raw(), RowMajorStrides(dims));
  return Error::success();
}
Expected<KernelFn> MakeBroadcastTo(const KernelSetup&) { return KernelFn(BroadcastTo); }

// The axes are indices (ReverseV2) or one boolean per dimension (Reverse).
Error Reverse(KernelContext& ctx, bool flags) {
  const Tensor &in = ctx.input(0), &axes = ctx.input(1);
  // For a scalar or an empty input of ReverseV2, TensorFlow does not check the axes.
  if (!flags && (in.rank() == 0 || in.num_elements() == 0)) {
    ctx.SetOutput(0, in);
    return Error::success();
  }
  if (axes.rank() != 1 || (flags && axes.num_elements() != in.rank())) {
    return MakeError(
        "axes must be a vector (for Reverse: of one flag per dimension), got shape {0}",
        DimsText(axes.dims()));
  }
  llvm::SmallVector<bool, 8> reversed(in.rank(), false);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    if (flags) {
      reversed[i] = axes.data<bool>()[i];
      continue;
    }
    ASSIGN_OR_RETURN(int d, AxisIn(axes.IntAt(i), in.rank()));
    if (reversed[d]) return MakeError("axis {0} is specified more than once", d);
    reversed[d] = true;
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  if (out->num_elements() == 0) return Error::success();
  Dims strides = RowMajorStrides(in.dims()), from = strides;
  int64_t start = 0;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reversed[d]) continue;
    start += (in.dim(d) - 1) * strides[d];
    from[d] = -strides[d];
  }
  CopyStrided(ctx, in.dtype(), in.dims(), At(in, start), from, out->raw(), strides);
  return Error::success();
}
Expected<KernelFn> MakeReverseV2(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return Reverse(ctx, false); });
}
Expected<KernelFn> MakeReverse(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return Reverse(ctx, true); });
}

// Each combination of wrapped and unwrapped parts per axis is copied as one box.
Error Roll(KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &shift = ctx.input(1), &axis = ctx.input(2);
  if (shift.dims() != axis.dims() || in.rank() < 1) {
    return MakeError(
        "the input must not be a scalar, and shift and axis must have the same shape, got input "
        "{0}, shift {1} and axis {2}",
        DimsText(in.dims()), DimsText(shift.dims()), DimsText(axis.dims()));
  }
  Dims by(in.rank(), 0);
  for (int64_t i = 0; i < axis.num_elements(); ++i) {
    ASSIGN_OR_RETURN(int d, AxisIn(axis.IntAt(i), in.rank()));
    if (in.dim(d) == 0) continue;
    int64_t n = in.dim(d);
    by[d] = ((by[d] + shift.IntAt(i) % n) % n + n) % n;
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  if (out->num_elements() == 0) return Error::success();
  Dims strides = RowMajorStrides(in.dims());
  llvm::SmallVector<int, 8> rolled;
  for (int d = 0; d < in.rank(); ++d) {
    if (by[d] != 0) rolled.push_back(d);
  }
  for (uint32_t part = 0; part < (1u << rolled.size()); ++part) {
    Dims size(in.dims().begin(), in.dims().end());
    int64_t from = 0, to = 0;
    for (size_t k = 0; k < rolled.size(); ++k) {
      int d = rolled[k];
      bool wraps = part >> k & 1;
      size[d] = wraps ? by[d] : in.dim(d) - by[d];
      (wraps ? from : to) += (wraps ? in.dim(d) - by[d] : by[d]) * strides[d];
    }
    CopyStrided(ctx, in.dtype(), size, At(in, from), strides, At(*out, to), strides);
  }
  return Error::success();
}
Expected<KernelFn> MakeRoll(const KernelSetup&) { return KernelFn(Roll); }

GRAPNEL_CPU_KERNEL("Pad", MakePad);
GRAPNEL_CPU_KERNEL("PadV2", MakePad);
GRAPNEL_CPU_KERNEL("MirrorPad", MakeMirrorPad);
GRAPNEL_CPU_KERNEL("Tile", MakeTile);
GRAPNEL_CPU_KERNEL("BroadcastTo", MakeBroadcastTo);
GRAPNEL_CPU_KERNEL("ReverseV2", MakeReverseV2);
GRAPNEL_CPU_KERNEL("Reverse", MakeReverse);
GRAPNEL_CPU_KERNEL("Roll", MakeRoll);

}  // namespace
}  // namespace grapnel
