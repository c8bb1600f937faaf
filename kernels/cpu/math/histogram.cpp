// HistogramFixedWidth and UnravelIndex: map numbers to positions in a grid.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/indices.h"
#include "kernels/common/kernel_of.h"

namespace grapnel {
namespace {

using HistogramTypes = RealTypes;

using CountFn = Error (*)(const Tensor& values, const Tensor& range, std::vector<int64_t>& counts);

// Values out of range count in the first or last bin.
template <typename T>
Error Count(const Tensor& values, const Tensor& range, std::vector<int64_t>& counts) {
  double low = static_cast<double>(range.data<T>()[0]);
  double high = static_cast<double>(range.data<T>()[1]);
  if (!(low < high) || !std::isfinite(high - low))
    return MakeError("value_range must be finite and ascending, got {0} to {1}", low, high);
  double bins = static_cast<double>(counts.size()), step = (high - low) / bins;
  const T* data = values.data<T>();
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    double x = static_cast<double>(data[i]);
    if (std::isnan(x)) return MakeError("values must not be NaN");
    double bin = (std::max(x, low) - low) / step;
    ++counts[static_cast<int64_t>(std::min(bin, bins - 1))];
  }
  return Error::success();
}

Error Histogram(KernelContext& ctx) {
  const Tensor &values = ctx.input(0), &range = ctx.input(1), &bins = ctx.input(2);
  if (range.rank() != 1 || range.num_elements() != 2)
    return MakeError("value_range must be a vector of 2 elements, got shape {0}",
                     DimsText(range.dims()));
  if (bins.rank() != 0)
    return MakeError("nbins must be a scalar, got shape {0}", DimsText(bins.dims()));
  int64_t count = bins.IntAt(0);
  if (count <= 0) return MakeError("nbins must be positive, got {0}", count);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {count}));
  std::vector<int64_t> counts(count, 0);
  CountFn count_in = ForType(values.dtype(), HistogramTypes(), [](auto tag) -> CountFn {
    return &Count<typename decltype(tag)::type>;
  });
  if (!count_in) return MakeError("no kernel for dtype {0}", DataTypeName(values.dtype()));
  RETURN_IF_ERROR(count_in(values, range, counts));
  for (int64_t i = 0; i < count; ++i) PutIndex(*out, i, counts[i]);
  return Error::success();
}

// Converts the flat index of an element to one index per dimension.
Error Unravel(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &shape = ctx.input(1);
  if (indices.rank() > 1 || shape.rank() != 1)
    return MakeError("expected indices of rank 0 or 1 and a vector of dims, got shapes {0} and {1}",
                     DimsText(indices.dims()), DimsText(shape.dims()));
  if (indices.num_elements() == 0) return MakeError("indices are empty");
  Dims dims = IntsOf(shape);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] <= 0) return MakeError("dims[{0}] must be positive, got {1}", d, dims[d]);
  }
  std::optional<int64_t> product = NumElements(dims);
  bool is_narrow = shape.dtype() == proto::DT_INT32;
  if (!product || (is_narrow && *product > std::numeric_limits<int32_t>::max()))
    return MakeError("the product of dims {0} is too large for {1}", IntsText(dims),
                     DataTypeName(shape.dtype()));
  int64_t limit = *product;
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    // Negative indices are not rejected: the loop below divides them too.
    if (indices.IntAt(i) >= limit)
      return MakeError("indices[{0}] = {1} is not below {2}", i, indices.IntAt(i), limit);
  }
  Dims out_dims = {static_cast<int64_t>(dims.size())};
  if (indices.rank() == 1) out_dims.push_back(indices.num_elements());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, out_dims));
  int64_t n = indices.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = indices.IntAt(i);
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d])
      PutIndex(*out, static_cast<int64_t>(d) * n + i, rest % dims[d]);
  }
  return Error::success();
}

GRAPNEL_CPU_KERNEL("HistogramFixedWidth", KernelOf<Histogram>,
                   OfTypes("T", DataTypesOf(HistogramTypes())));
GRAPNEL_CPU_KERNEL("UnravelIndex", KernelOf<Unravel>);

}  // namespace
}  // namespace grapnel
