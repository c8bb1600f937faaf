// Softmax and LogSoftmax over the last dimension, shifted by the largest logit to avoid overflow.
#include <cmath>
#include <vector>

#include "Eigen/Core"
#include "kernels/common/epilogue.h"
#include "kernels/common/half_fold.h"
#include "kernels/common/rounded_half.h"

namespace grapnel {
namespace {

constexpr int64_t kShortRow = 32, kShortRows = 512;  // elements
constexpr int64_t kLanes = 16;                       // maximum of a vector register

template <typename T>
void SoftmaxRow(const T* in, T* out, int64_t n, bool log) {
  Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> x(in, n);
  Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> y(out, n);
  T largest = x.template maxCoeff<Eigen::PropagateNaN>();
  y = x - largest;
  if (log) {
    y -= std::log(y.exp().sum());
  } else {
    y = y.exp();
    y *= T(1) / y.sum();
  }
}

// Applies `function` to n numbers in whole vectors, so that the bits of the result do not depend on
// alignment. Memory must extend to the next multiple of kLanes.
template <typename T, typename F>
void InWholeVectors(T* x, int64_t n, F&& function) {
  int64_t whole = (n + kLanes - 1) / kLanes * kLanes;
  std::fill(x + n, x + whole, T(1));
  Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> all(x, whole);
  all = function(all);
}

// Handles rows too short for a separate loop: exponentiates as many as stay in the L1 cache.
template <typename T>
void ShortSoftmaxRows(const T* in, T* out, int64_t rows, int64_t n, bool log) {
  const int64_t most = kShortRows / n;
  // Eigen uses scalar code up to the first aligned element.
  alignas(64) T powers[kShortRows], factors[kShortRows];
  for (int64_t r = 0; r < rows; r += most, in += most * n, out += most * n) {
    const int64_t count = std::min(most, rows - r);
    for (int64_t i = 0; i < count; ++i) {
      const T* row = in + i * n;
      T largest = row[0];
      for (int64_t j = 1; j < n; ++j)
        largest = ((row[j] > largest) | (row[j] != row[j])) ? row[j] : largest;
      for (int64_t j = 0; j < n; ++j) powers[i * n + j] = out[i * n + j] = row[j] - largest;
    }
    InWholeVectors(powers, count * n, [](const auto& x) { return x.exp(); });
    for (int64_t i = 0; i < count; ++i) {
      T sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += powers[i * n + j];
      factors[i] = log ? sum : T(1) / sum;
    }
    if (log) InWholeVectors(factors, count, [](const auto& x) { return x.log(); });
    for (int64_t i = 0; i < count; ++i) {
      T* row = out + i * n;
      const T* from = powers + i * n;
      for (int64_t j = 0; j < n; ++j) row[j] = log ? row[j] - factors[i] : from[j] * factors[i];
    }
  }
}

// TensorFlow rounds every step for half, and for LogSoftmax in bfloat16.
template <typename T>
void SteppedSoftmaxRow(const T* in, T* out, int64_t n, int64_t first, bool log) {
  using Number = RoundedHalf<T>;
  float largest = -INFINITY;
  for (int64_t i = 0; i < n; ++i) {
    float x = static_cast<float>(in[i]);
    if (!(x <= largest)) largest = x;  // NaN counts as the largest
  }
  auto shifted = [&](int64_t i) { return Number(static_cast<float>(in[i])) - Number(largest); };
  std::vector<T> powers(n);
  for (int64_t i = 0; i < n; ++i) powers[i] = T(Exp(shifted(i)).value());
  Number sum(FoldRow(HalfFold::kSum, powers.data(), n, first));
  Number factor = log ? Log(sum) : Number(1) / sum;
  for (int64_t i = 0; i < n; ++i) {
    Number power(static_cast<float>(powers[i]));
    out[i] = T((log ? shifted(i) - factor : power * factor).value());
  }
}

template <typename T>
Error Softmax(KernelContext& ctx, bool log) {
  Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
  if (dims.empty()) return MakeError("the logits must have rank 1 or more, not shape []");
  int64_t n = dims.back();
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, dims));
  if (out->num_elements() == 0) return Error::success();
  const T* in = ctx.input(0).data<T>();
  T* to = out->data<T>();
  ctx.ParallelFor(out->num_elements() / n, 20 + n * 1.5, [&](int64_t begin, int64_t end) {
    if constexpr (kIsSmallFloat<T>) {
      if (log || std::is_same_v<T, Eigen::half>) {
        for (int64_t i = begin; i < end; ++i)
          SteppedSoftmaxRow(in + i * n, to + i * n, n, i * n, log);
        return;
      }
      std::vector<float> row(n);
      for (int64_t i = begin; i < end; ++i) {
        Widen(in + i * n, row.data(), n);
        SoftmaxRow(row.data(), row.data(), n, log);
        Narrow(row.data(), to + i * n, n);
      }
    } else if (n < kShortRow) {
      ShortSoftmaxRows(in + begin * n, to + begin * n, end - begin, n, log);
    } else {
      for (int64_t i = begin; i < end; ++i) SoftmaxRow(in + i * n, to + i * n, n, log);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeSoftmax(const KernelSetup& setup) {
  bool log = setup.node().op() == "LogSoftmax";
  KernelFn fn;
  ForType(setup.output_type(0), FloatTypes(), [&](auto tag) {
    fn = [log](KernelContext& ctx) { return Softmax<typename decltype(tag)::type>(ctx, log); };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("Softmax", MakeSoftmax, OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("LogSoftmax", MakeSoftmax, OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
