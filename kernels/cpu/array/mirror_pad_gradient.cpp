// MirrorPadGrad: adds the gradient of each padded copy to its source element.
#include "kernels/common/dims.h"
#include "kernels/common/padding.h"
#include "kernels/common/rounded_half.h"

namespace grapnel {
namespace {

// Returns the source position of padded position `at` in a dimension of `size` elements. `skip` is
// 1 when the border is not repeated (REFLECT).
int64_t Source(int64_t at, int64_t before, int64_t size, int64_t skip) {
  at -= before;
  if (at < 0) return -at - 1 + skip;
  return at < size ? at : 2 * size - 1 - skip - at;
}

struct Fold {
  std::vector<int64_t> before;               // padding before, by dimension
  Dims dims;                                 // of the result
  std::vector<std::vector<int64_t>> source;  // by dimension and padded position
};

Expected<Fold> ReadFold(const Tensor& in, const Tensor& paddings, int64_t skip) {
  ASSIGN_OR_RETURN(Paddings pad, ReadPaddings(in, paddings));
  Fold fold;
  for (int d = 0; d < in.rank(); ++d) {
    int64_t before = pad.before[d], after = pad.after[d];
    int64_t size = in.dim(d) - before;  // cannot overflow: neither is negative
    if (size < after || std::max(before, after) > size - after - skip)
      return MakeError(
          "paddings {0} and {1} are too large for dimension {2}, which has {3} elements with "
          "padding",
          before, after, d, in.dim(d));
    size -= after;
    fold.dims.push_back(size);
    fold.before.push_back(before);
    std::vector<int64_t>& source = fold.source.emplace_back();
    for (int64_t at = 0; at < in.dim(d); ++at) source.push_back(Source(at, before, size, skip));
  }
  return fold;
}

template <typename T>
void AddUp(const Tensor& in, const Fold& fold, Tensor& out) {
  T* sums = out.data<T>();
  std::fill_n(sums, out.num_elements(), T(0));
  Dims strides = RowMajorStrides(fold.dims), index(in.rank(), 0);
  int last = in.rank() - 1;
  int64_t row = last < 0 ? 1 : in.dim(last);
  for (int64_t at = 0; at < in.num_elements(); at += row) {
    int64_t base = 0;
    for (int d = 0; d < last; ++d) base += fold.source[d][index[d]] * strides[d];
    for (int64_t i = 0; i < row; ++i) {
      T& sum = sums[base + (last < 0 ? 0 : fold.source[last][i])];
      sum = AddOf(sum, in.data<T>()[at + i]);
    }
    for (int d = last - 1; d >= 0 && ++index[d] == in.dim(d); --d) index[d] = 0;
  }
}

// 16-bit floats round at each addition, so the order must be TensorFlow's: one dimension after the
// other, and in each dimension the padding before the data, then the padding after it.
template <typename T>
void FoldSteps(const Tensor& in, const Fold& fold, Tensor& out) {
  std::vector<float> sums(in.num_elements());
  Widen(in.data<T>(), sums.data(), in.num_elements());
  Dims strides = RowMajorStrides(in.dims());
  auto at = [&](int64_t i, int d) { return i / strides[d] % in.dim(d); };
  // True for positions of the result, given in the padded tensor's coordinates.
  auto is_inside = [&](int64_t i, int d) {
    int64_t from = at(i, d) - fold.before[d];
    return from >= 0 && from < fold.dims[d];
  };
  for (int d = 0; d < in.rank(); ++d) {
    for (bool before : {true, false}) {
      for (int64_t i = 0; i < in.num_elements(); ++i) {
        if (is_inside(i, d) || (at(i, d) < fold.before[d]) != before) continue;
        bool folded = true;
        for (int e = 0; e < d; ++e) folded &= is_inside(i, e);
        if (!folded) continue;
        int64_t to = i + (fold.source[d][at(i, d)] + fold.before[d] - at(i, d)) * strides[d];
        sums[to] = RoundedTo<T>(sums[to] + sums[i]);
      }
    }
  }
  T* to = out.data<T>();
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    bool inside = true;
    for (int d = 0; d < in.rank(); ++d) inside &= is_inside(i, d);
    if (inside) *to++ = T(sums[i]);
  }
}

Expected<KernelFn> Make(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(int64_t skip, MirrorSkip(setup.node()));
  return KernelFn([skip](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Fold fold, ReadFold(in, ctx.input(1), skip));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, fold.dims));
    if (in.num_elements() == 0) return Error::success();
    bool known = ForType(in.dtype(), NumberTypes(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsSmallFloat<T>)
        FoldSteps<T>(in, fold, *out);
      else
        AddUp<T>(in, fold, *out);
      return true;
    });
    return known ? Error::success()
                 : MakeError("no kernel for dtype {0}", DataTypeName(in.dtype()));
  });
}

GRAPNEL_CPU_KERNEL("MirrorPadGrad", Make, OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
