// SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: the loss of each row and
// its gradient.
#include <cmath>
#include <vector>

#include "kernels/common/half_fold.h"
#include "kernels/common/rounded_half.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

template <typename T>
using WideOf = std::conditional_t<kIsSmallFloat<T>, float, T>;

// Subtracts the largest logit from the row and returns the logarithm of the sum of exponentials.
template <typename T, typename W>
W ShiftRow(const T* logits, int64_t stride, int64_t n, std::vector<W>& shifted) {
  using Array = Eigen::Map<Eigen::Array<W, Eigen::Dynamic, 1>>;
  shifted.resize(n);
  for (int64_t i = 0; i < n; ++i) shifted[i] = static_cast<W>(logits[i * stride]);
  Array x(shifted.data(), n);
  x -= x.maxCoeff();
  return std::log(x.exp().sum());
}

// ShiftRow for 16-bit floats, which TensorFlow rounds at each step: sets the shifted logits and
// returns the sum of their exponentials. `first` is the number of gradient elements before the row.
template <typename T>
RoundedHalf<T> ShiftSteppedRow(const T* logits, int64_t stride, int64_t n, int64_t first,
                               std::vector<RoundedHalf<T>>& shifted) {
  shifted.resize(n);
  std::vector<T> powers(n);
  float largest = static_cast<float>(logits[0]);
  for (int64_t i = 1; i < n; ++i)
    largest = std::max(largest, static_cast<float>(logits[i * stride]));
  for (int64_t i = 0; i < n; ++i) {
    shifted[i] = RoundedHalf<T>(static_cast<float>(logits[i * stride])) - RoundedHalf<T>(largest);
    powers[i] = T(Exp(shifted[i]).value());
  }
  return RoundedHalf<T>(FoldRow(HalfFold::kSum, powers.data(), n, first));
}

// The strides of the logits or the labels, 0 where an operand with 1 row or column is broadcast.
struct Steps {
  int64_t row_step, column_step;
};
Steps StepsOf(const Tensor& tensor) {
  return {tensor.dim(0) == 1 ? 0 : tensor.dim(1), tensor.dim(1) == 1 ? 0 : 1};
}

template <typename T>
void SteppedCrossEntropy(KernelContext& ctx, Steps x, Steps y, int64_t n, Tensor* loss,
                         Tensor* gradient) {
  using Number = RoundedHalf<T>;
  const T *logits = ctx.input(0).data<T>(), *labels = ctx.input(1).data<T>();
  ctx.ParallelFor(loss->num_elements(), 20 + n * 9.0, [&](int64_t begin, int64_t end) {
    std::vector<Number> shifted;
    std::vector<T> losses(n);
    for (int64_t row = begin; row < end; ++row) {
      Number sum = ShiftSteppedRow(logits + row * x.row_step, x.column_step, n, row * n, shifted);
      Number log_sum = Log(sum);
      T* to = gradient->data<T>() + row * n;
      for (int64_t i = 0; i < n; ++i) {
        Number label(static_cast<float>(labels[row * y.row_step + i * y.column_step]));
        losses[i] = T((label * (log_sum - shifted[i])).value());
        to[i] = T((Exp(shifted[i]) / sum - label).value());
      }
      loss->data<T>()[row] = T(FoldRow(HalfFold::kSum, losses.data(), n, row * n));
    }
  });
}

template <typename T>
void SteppedSparseCrossEntropy(KernelContext& ctx, int64_t n, Tensor* loss, Tensor* gradient) {
  using Number = RoundedHalf<T>;
  const Tensor &logits = ctx.input(0), &labels = ctx.input(1);
  ctx.ParallelFor(loss->num_elements(), 20 + n * 6.0, [&](int64_t begin, int64_t end) {
    std::vector<Number> shifted;
    for (int64_t row = begin; row < end; ++row) {
      Number sum = ShiftSteppedRow(logits.data<T>() + row * n, 1, n, row * n, shifted);
      int64_t label = labels.IntAt(row);
      T* to = gradient->data<T>() + row * n;
      for (int64_t i = 0; i < n; ++i)
        to[i] = T((Exp(shifted[i]) / sum - Number(i == label ? 1.0f : 0.0f)).value());
      loss->data<T>()[row] = T((Log(sum) - shifted[label]).value());
    }
  });
}

template <typename T>
Error CrossEntropy(KernelContext& ctx) {
  const Tensor &logits = ctx.input(0), &labels = ctx.input(1);
  bool fits = logits.rank() == 2 && labels.rank() == 2;
  for (int i = 0; fits && i < 2; ++i)
    fits = logits.dim(i) == labels.dim(i) || logits.dim(i) == 1 || labels.dim(i) == 1;
  if (!fits)
    return MakeError("logits and labels must be matrices that broadcast, got shapes {0} and {1}",
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
  if constexpr (kIsSmallFloat<T>) {
    SteppedCrossEntropy<T>(ctx, x, y, n, loss, gradient);
    return Error::success();
  }
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
    return MakeError("logits must be a matrix, got shape {0}", DimsText(logits.dims()));
  int64_t rows = logits.dim(0), n = logits.dim(1);
  if (labels.rank() != 1 || labels.dim(0) != rows)
    return MakeError("labels must be a vector of {0} elements, got shape {1}", rows,
                     DimsText(labels.dims()));
  if (n == 0) return MakeError("there must be at least one class");
  ASSIGN_OR_RETURN(Tensor * loss, ctx.Allocate(0, {rows}));
  ASSIGN_OR_RETURN(Tensor * gradient, ctx.Allocate(1, {rows, n}));
  RETURN_IF_ERROR(CheckLabels(labels, n));
  if constexpr (kIsSmallFloat<T>) {
    SteppedSparseCrossEntropy<T>(ctx, n, loss, gradient);
    return Error::success();
  }
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
