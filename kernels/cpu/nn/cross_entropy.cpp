// SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: the loss of each row and
// its gradient.
#include <cmath>
#include <vector>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

template <typename T>
using WideOf = std::conditional_t<kIsSmallFloat<T>, float, T>;

// The row shifted by its largest logit, and the logarithm of the sum of its exponentials.
template <typename T, typename W>
W ShiftRow(const T* logits, int64_t stride, int64_t n, std::vector<W>& shifted) {
  using Array = Eigen::Map<Eigen::Array<W, Eigen::Dynamic, 1>>;
  shifted.resize(n);
  for (int64_t i = 0; i < n; ++i) shifted[i] = static_cast<W>(logits[i * stride]);
  Array x(shifted.data(), n);
  x -= x.maxCoeff();
  return std::log(x.exp().sum());
}

// Rows and columns of either operand may be 1 where the other's are more.
struct Steps {
  int64_t row_step, column_step;
};
Steps StepsOf(const Tensor& tensor) {
  return {tensor.dim(0) == 1 ? 0 : tensor.dim(1), tensor.dim(1) == 1 ? 0 : 1};
}

template <typename T>
Error CrossEntropy(KernelContext& ctx) {
  const Tensor &logits = ctx.input(0), &labels = ctx.input(1);
  bool fits = logits.rank() == 2 && labels.rank() == 2;
  for (int i = 0; fits && i < 2; ++i)
    fits = logits.dim(i) == labels.dim(i) || logits.dim(i) == 1 || labels.dim(i) == 1;
  if (!fits)
    return MakeError("logits and labels must be matrices that broadcast, not {0} and {1}",
                     DimsText(logits.dims()), DimsText(labels.dims()));
  int64_t rows = logits.dim(0) == 1 ? labels.dim(0) : logits.dim(0);
  int64_t n = logits.dim(1) == 1 ? labels.dim(1) : logits.dim(1);
  ASSIGN_OR_RETURN(Tensor * loss, ctx.Allocate(0, {rows}));
  ASSIGN_OR_RETURN(Tensor * gradient, ctx.Allocate(1, {rows, n}));
  if (n == 0) {
    std::fill_n(loss->data<T>(), rows, T(0));
    return Error::success();
  }
  Steps x = StepsOf(logits), y = StepsOf(labels);
  ctx.ParallelFor(rows, 20 + n * 3.0, [&](int64_t begin, int64_t end) {
    std::vector<WideOf<T>> shifted;
    for (int64_t row = begin; row < end; ++row) {
      WideOf<T> log_sum = ShiftRow(logits.data<T>() + row * x.row_step, x.column_step, n, shifted);
      const T* expected = labels.data<T>() + row * y.row_step;
      T* to = gradient->data<T>() + row * n;
      WideOf<T> sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        WideOf<T> label = static_cast<WideOf<T>>(expected[i * y.column_step]);
        sum += label * (log_sum - shifted[i]);
        to[i] = static_cast<T>(std::exp(shifted[i] - log_sum) - label);
      }
      loss->data<T>()[row] = static_cast<T>(sum);
    }
  });
  return Error::success();
}

Error CheckLabels(const Tensor& labels, int64_t classes) {
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    int64_t label = labels.IntAt(i);
    if (label < 0 || label >= classes)
      return MakeError("label {0} is {1}, not in [0, {2})", i, label, classes);
  }
  return Error::success();
}

template <typename T>
Error SparseCrossEntropy(KernelContext& ctx) {
  const Tensor &logits = ctx.input(0), &labels = ctx.input(1);
  if (logits.rank() != 2)
    return MakeError("logits must be a matrix, not {0}", DimsText(logits.dims()));
  int64_t rows = logits.dim(0), n = logits.dim(1);
  if (labels.rank() != 1 || labels.dim(0) != rows)
    return MakeError("labels must be a vector of {0}, not {1}", rows, DimsText(labels.dims()));
  if (n == 0) return MakeError("there must be at least one class");
  ASSIGN_OR_RETURN(Tensor * loss, ctx.Allocate(0, {rows}));
  ASSIGN_OR_RETURN(Tensor * gradient, ctx.Allocate(1, {rows, n}));
  RETURN_IF_ERROR(CheckLabels(labels, n));
  ctx.ParallelFor(rows, 20 + n * 3.0, [&](int64_t begin, int64_t end) {
    std::vector<WideOf<T>> shifted;
    for (int64_t row = begin; row < end; ++row) {
      WideOf<T> log_sum = ShiftRow(logits.data<T>() + row * n, 1, n, shifted);
      int64_t label = labels.IntAt(row);
      T* to = gradient->data<T>() + row * n;
      for (int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<T>(std::exp(shifted[i] - log_sum) - WideOf<T>(i == label));
      }
      loss->data<T>()[row] = static_cast<T>(log_sum - shifted[label]);
    }
  });
  return Error::success();
}

template <bool sparse>
Expected<KernelFn> MakeCrossEntropy(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.output_type(0), FloatTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [](KernelContext& ctx) {
      return sparse ? SparseCrossEntropy<T>(ctx) : CrossEntropy<T>(ctx);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("SoftmaxCrossEntropyWithLogits", MakeCrossEntropy<false>,
                   OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("SparseSoftmaxCrossEntropyWithLogits", MakeCrossEntropy<true>,
                   OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
