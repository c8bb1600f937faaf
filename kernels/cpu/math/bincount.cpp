// Bincount, DenseBincount and RaggedBincount: count the occurrences of each number below `size`,
// sum its weights, or set 1 if it occurs (binary_output). Larger numbers are ignored; negative ones
// are errors.
#include <algorithm>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

using CountTypes = TypeList<int32_t, int64_t, float, double>;

struct Inputs {
  const Tensor *values, *size, *weights;
};

Expected<int64_t> CheckInputs(const Inputs& in) {
  if (in.size->rank() != 0) return MakeError("size must be a scalar");
  int64_t size = in.size->IntAt(0);
  if (size < 0) return MakeError("size must not be negative, got {0}", size);
  if (in.weights->num_elements() != 0 && in.weights->num_elements() != in.values->num_elements())
    return MakeError(
        "weights must be empty or one per value, got shape {1} for values of shape {0}",
        DimsText(in.values->dims()), DimsText(in.weights->dims()));
  for (int64_t i = 0; i < in.values->num_elements(); ++i) {
    if (in.values->IntAt(i) < 0)
      return MakeError("values must not be negative: element {0} is {1}", i, in.values->IntAt(i));
  }
  return size;
}

// Updates `bins` with the values [begin, end).
template <typename T>
void Count(const Inputs& in, int64_t begin, int64_t end, int64_t size, bool binary, T* bins) {
  const T* weights = in.weights->num_elements() == 0 ? nullptr : in.weights->data<T>();
  for (int64_t i = begin; i < end; ++i) {
    int64_t value = in.values->IntAt(i);
    if (value >= size) continue;
    bins[value] = binary ? T(1) : AddOf(bins[value], weights ? weights[i] : T(1));
  }
}

template <typename T>
Error DenseBincount(KernelContext& ctx, bool binary) {
  Inputs in{&ctx.input(0), &ctx.input(1), &ctx.input(2)};
  if (in.values->rank() > 2)
    return MakeError("the input must have rank 2 or less, not shape {0}",
                     DimsText(in.values->dims()));
  ASSIGN_OR_RETURN(int64_t size, CheckInputs(in));
  if (in.weights->num_elements() != 0 && in.weights->dims() != in.values->dims())
    return MakeError("weights must be empty or have the input's shape {0}, got shape {1}",
                     DimsText(in.values->dims()), DimsText(in.weights->dims()));
  bool rows = in.values->rank() == 2;
  int64_t count = rows ? in.values->dim(0) : 1;
  int64_t length = rows ? in.values->dim(1) : in.values->num_elements();
  Dims dims{size};
  if (rows) dims.insert(dims.begin(), count);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  T* bins = out->data<T>();
  std::fill_n(bins, out->num_elements(), T(0));
  ctx.ParallelFor(count, 5 + 2.0 * length, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      Count<T>(in, row * length, (row + 1) * length, size, binary, bins + row * size);
  });
  return Error::success();
}

// Treats an input of any shape as one row. `binary` is the attribute binary_output; it is false
// for Bincount, which does not have the attribute.
template <typename T>
Error Bincount(KernelContext& ctx, bool binary) {
  Inputs in{&ctx.input(0), &ctx.input(1), &ctx.input(2)};
  ASSIGN_OR_RETURN(int64_t size, CheckInputs(in));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {size}));
  std::fill_n(out->data<T>(), size, T(0));
  Count<T>(in, 0, in.values->num_elements(), size, binary, out->data<T>());
  return Error::success();
}

template <typename T>
Error RaggedBincount(KernelContext& ctx, bool binary) {
  const Tensor& splits = ctx.input(0);
  Inputs in{&ctx.input(1), &ctx.input(2), &ctx.input(3)};
  ASSIGN_OR_RETURN(int64_t size, CheckInputs(in));
  int64_t n = in.values->num_elements();
  if (splits.rank() != 1 || splits.dim(0) < 1)
    return MakeError("splits must be a vector of at least one element, got shape {0}",
                     DimsText(splits.dims()));
  int64_t rows = splits.dim(0) - 1;
  if (splits.IntAt(0) != 0) return MakeError("splits must start with 0, not {0}", splits.IntAt(0));
  if (splits.IntAt(rows) != n)
    return MakeError("splits must end with the number of values {0}, not {1}", n,
                     splits.IntAt(rows));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows, size}));
  std::fill_n(out->data<T>(), out->num_elements(), T(0));
  int64_t row = 0;
  for (int64_t i = 0; i < n; ++i) {
    while (row + 1 < rows && i >= splits.IntAt(row + 1)) ++row;
    Count<T>(in, i, i + 1, size, binary, out->data<T>() + row * size);
  }
  return Error::success();
}

enum class Form { kAny, kDense, kRagged };

template <Form form>
Expected<KernelFn> MakeBincount(const KernelSetup& setup) {
  bool binary = setup.node().GetBool("binary_output");
  KernelFn fn;
  ForType(setup.output_type(0), CountTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [binary](KernelContext& ctx) {
      if constexpr (form == Form::kAny) return Bincount<T>(ctx, binary);
      if constexpr (form == Form::kDense) return DenseBincount<T>(ctx, binary);
      if constexpr (form == Form::kRagged) return RaggedBincount<T>(ctx, binary);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("Bincount", MakeBincount<Form::kAny>, OfTypes("T", DataTypesOf(CountTypes())));
GRAPNEL_CPU_KERNEL("DenseBincount", MakeBincount<Form::kDense>,
                   OfTypes("T", DataTypesOf(CountTypes())));
GRAPNEL_CPU_KERNEL("RaggedBincount", MakeBincount<Form::kRagged>,
                   OfTypes("T", DataTypesOf(CountTypes())));

}  // namespace
}  // namespace grapnel
