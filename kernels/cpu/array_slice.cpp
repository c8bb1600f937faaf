// Slice and StridedSlice: which elements are meant, and then one strided copy, or none where the
// result is a dense part of the input.
#include <algorithm>

#include "kernels/cpu/data_move.h"

namespace grapnel {
namespace {

// A sub-box of a tensor: `begin + i * stride` for i < size in each dimension.
struct Box {
  Dims begin, size, stride;
};

// The elements of the box as an output of shape `dims`. Rows of the first dimension are passed on
// without a copy.
Error TakeBox(KernelContext& ctx, const Box& box, llvm::ArrayRef<int64_t> dims) {
  const Tensor& in = ctx.input(0);
  bool whole = true;  // every dimension but the first
  for (int d = 0; d < in.rank(); ++d) {
    whole &= (d == 0 ? box.stride[d] == 1
                     : box.begin[d] == 0 && box.stride[d] == 1 && box.size[d] == in.dim(d));
  }
  if (whole && DataTypeSize(in.dtype()) != 0) {
    Tensor part = in.rank() > 0 ? in.Slice(box.begin[0], box.begin[0] + box.size[0]) : in;
    // Kernels read whole vectors: a part that starts in the middle of one would be slow or, for
    // oneDNN, refused.
    if (part.offset() % 64 == 0) {
      ctx.SetOutput(0, part.Reshaped(dims));
      return Error::success();
    }
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  Dims strides = RowMajorStrides(in.dims());
  int64_t start = 0;
  for (int d = 0; d < in.rank(); ++d) {
    start += box.begin[d] * strides[d];
    strides[d] *= box.stride[d];
  }
  CopyStrided(ctx, in.dtype(), box.size, At(in, start), strides, out->raw(),
              RowMajorStrides(box.size));
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
  Box box;
  for (int d = 0; d < in.rank(); ++d) {
    int64_t begin = begins.IntAt(d), size = sizes.IntAt(d);
    if (begin < 0 || begin > in.dim(d)) {
      return MakeError("expected begin[{0}] in [0, {1}], got {2}", d, in.dim(d), begin);
    }
    if (size == -1) size = in.dim(d) - begin;
    if (size < 0 || size > in.dim(d) - begin) {
      return MakeError("expected size[{0}] in [0, {1}], got {2}", d, in.dim(d) - begin, size);
    }
    box.begin.push_back(begin);
    box.size.push_back(size);
    box.stride.push_back(1);
  }
  return TakeBox(ctx, box, box.size);
}

Expected<KernelFn> MakeSlice(const KernelSetup&) { return KernelFn(Slice); }

struct Masks {
  uint64_t begin, end, ellipsis, new_axis, shrink;
};

// Reads one subscript after the other, as x[1:, ..., None, ::-1, 3] would be read. `box` gets one
// entry for each dimension of the input, `dims` those of the result.
Error ReadSubscripts(llvm::ArrayRef<int64_t> in, const Dims& begins, const Dims& ends,
                     const Dims& strides, const Masks& masks, Box& box, Dims& dims) {
  int count = static_cast<int>(begins.size()), rank = static_cast<int>(in.size());
  auto has = [](uint64_t mask, int i) { return i < 64 && (mask >> i & 1); };
  int used = 0;
  bool ellipsis_seen = false;
  for (int i = 0; i < count; ++i) {
    if (has(masks.ellipsis, i)) {
      if (ellipsis_seen) return MakeError("multiple ellipses in slice spec not allowed");
      ellipsis_seen = true;
    } else if (!has(masks.new_axis, i)) {
      ++used;
    }
  }
  if (used > rank) {
    return MakeError("a slice with {0} subscripts does not fit an input of {1} dimensions", used,
                     rank);
  }
  auto whole = [&](int d) {
    box.begin.push_back(0);
    box.size.push_back(in[d]);
    box.stride.push_back(1);
    dims.push_back(in[d]);
  };
  int d = 0;
  for (int i = 0; i < count; ++i) {
    if (has(masks.ellipsis, i)) {
      for (int n = rank - used; n > 0; --n) whole(d++);
      continue;
    }
    if (has(masks.new_axis, i)) {
      dims.push_back(1);
      continue;
    }
    int64_t size = in[d], stride = strides[i];
    if (stride == 0) return MakeError("strides[{0}] must be non-zero", i);
    if (has(masks.shrink, i)) {
      int64_t at = begins[i] < 0 ? begins[i] + size : begins[i];
      if (stride < 0)
        return MakeError("only stride 1 allowed on non-range indexing, strides[{0}] is {1}", i,
                         stride);
      if (at < 0 || at >= size) {
        return MakeError("slice index {0} of dimension {1} out of bounds: it has {2} elements",
                         begins[i], d, size);
      }
      box.begin.push_back(at);
      box.size.push_back(1);
      box.stride.push_back(1);
      ++d;
      continue;
    }
    // A range is cut to what there is: from either end of the dimension, or one before its start
    // for a step back.
    int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
    auto cut = [&](int64_t value) {
      return std::clamp(value < 0 ? value + size : value, low, high);
    };
    int64_t begin = has(masks.begin, i) ? (stride > 0 ? low : high) : cut(begins[i]);
    int64_t end = has(masks.end, i) ? (stride > 0 ? high : low) : cut(ends[i]);
    // `stride` may be near the ends of int64: dividing before adding keeps the sum in range.
    int64_t span = end - begin;
    int64_t taken = 0;
    if (span != 0 && (span > 0) == (stride > 0)) taken = span / stride + (span % stride != 0);
    box.begin.push_back(taken ? begin : 0);
    box.size.push_back(taken);
    box.stride.push_back(taken > 1 ? stride : 1);
    dims.push_back(taken);
    ++d;
  }
  while (d < rank) whole(d++);
  return Error::success();
}

Expected<KernelFn> MakeStridedSlice(const KernelSetup& setup) {
  const Node& node = setup.node();
  auto mask = [&](const char* name) { return static_cast<uint64_t>(node.GetInt(name)); };
  Masks masks{mask("begin_mask"), mask("end_mask"), mask("ellipsis_mask"), mask("new_axis_mask"),
              mask("shrink_axis_mask")};
  return KernelFn([masks](KernelContext& ctx) -> Error {
    const Tensor &begin = ctx.input(1), &end = ctx.input(2), &strides = ctx.input(3);
    if (begin.rank() != 1 || begin.dims() != end.dims() || begin.dims() != strides.dims()) {
      return MakeError(
          "expected begin, end and strides to be vectors of one size, got shapes {0}, {1}, {2}",
          DimsText(begin.dims()), DimsText(end.dims()), DimsText(strides.dims()));
    }
    Box box;
    Dims dims;
    RETURN_IF_ERROR(ReadSubscripts(ctx.input(0).dims(), IntsOf(begin), IntsOf(end), IntsOf(strides),
                                   masks, box, dims));
    return TakeBox(ctx, box, dims);
  });
}

GRAPNEL_CPU_KERNEL("Slice", nullptr, {}, KernelCost::kElements, MakeSlice);
GRAPNEL_CPU_KERNEL("StridedSlice", nullptr, {}, KernelCost::kElements, MakeStridedSlice);

}  // namespace
}  // namespace grapnel
