#include "kernels/common/slice_spec.h"

#include <algorithm>
#include <bit>

#include "kernels/common/dims.h"

namespace grapnel {
namespace {

// Reads the subscripts in order. `box` gets one entry per dimension of the input, `dims` one per
// dimension of the result.
Error ReadSubscripts(llvm::ArrayRef<int64_t> in, const Dims& begins, const Dims& ends,
                     const Dims& strides, const SliceMasks& masks, SliceBox& box, Dims& dims) {
  int count = static_cast<int>(begins.size()), rank = static_cast<int>(in.size());
  auto has = [](uint64_t mask, int i) { return i < 64 && (mask >> i & 1); };
  int used = 0;
  for (int i = 0; i < count; ++i) {
    if (!has(masks.ellipsis, i) && !has(masks.new_axis, i)) ++used;
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
        return MakeError("a single index must not have a negative stride, strides[{0}] is {1}", i,
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
    // The ends of a range are clamped to [0, size] or, for a negative step, to [-1, size - 1].
    int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
    auto cut = [&](int64_t value) {
      return std::clamp(value < 0 ? value + size : value, low, high);
    };
    int64_t begin = has(masks.begin, i) ? (stride > 0 ? low : high) : cut(begins[i]);
    int64_t end = has(masks.end, i) ? (stride > 0 ? high : low) : cut(ends[i]);
    // `stride` may be near the limits of int64: dividing before adding avoids overflow.
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

}  // namespace

int64_t SliceBox::Start(llvm::ArrayRef<int64_t> dims) const {
  Dims strides = RowMajorStrides(dims);
  int64_t start = 0;
  for (size_t d = 0; d < dims.size(); ++d) start += begin[d] * strides[d];
  return start;
}

Dims SliceBox::Steps(llvm::ArrayRef<int64_t> dims) const {
  Dims steps = RowMajorStrides(dims);
  for (size_t d = 0; d < dims.size(); ++d) steps[d] *= stride[d];
  return steps;
}

Expected<SliceMasks> SliceMasksOf(const Node& node) {
  constexpr const char* kNames[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                    "shrink_axis_mask"};
  uint64_t masks[5];
  for (int i = 0; i < 5; ++i) {
    int64_t mask = node.GetInt(kNames[i]);
    if (mask != static_cast<int32_t>(mask))
      return MakeError("attribute '{0}' is {1}, which does not fit into 32 bits", kNames[i], mask);
    masks[i] = static_cast<uint64_t>(mask);
  }
  // This check covers all bits of the ellipsis mask, even those beyond the last subscript.
  if (std::popcount(static_cast<uint32_t>(masks[2])) > 1)
    return MakeError("multiple ellipses in slice spec not allowed");
  return SliceMasks{masks[0], masks[1], masks[2], masks[3], masks[4]};
}

Expected<SliceSpec> ReadSliceSpec(llvm::ArrayRef<int64_t> in, const Tensor& begin,
                                  const Tensor& end, const Tensor& strides,
                                  const SliceMasks& masks) {
  if (begin.rank() != 1 || begin.dims() != end.dims() || begin.dims() != strides.dims()) {
    return MakeError(
        "expected begin, end and strides to be vectors of one size, got shapes {0}, {1}, {2}",
        DimsText(begin.dims()), DimsText(end.dims()), DimsText(strides.dims()));
  }
  SliceSpec spec;
  RETURN_IF_ERROR(
      ReadSubscripts(in, IntsOf(begin), IntsOf(end), IntsOf(strides), masks, spec.box, spec.dims));
  return spec;
}

}  // namespace grapnel
