// The epilogue of fused ops, applied to a matrix of results while it is in the cache: scale, bias,
// addend, activation.
#ifndef GRAPNEL_KERNELS_COMMON_EPILOGUE_H_
#define GRAPNEL_KERNELS_COMMON_EPILOGUE_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/common/activation.h"
#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// The type in which kernels compute with T: float for 16-bit floats.
template <typename T>
using ComputeType = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <typename T>
T Activate(GrapnelActivation activation, T x, T alpha) {
  // The fused Relu and Relu6 turn NaN into 0, as TensorFlow's fused kernels and oneDNN do.
  switch (activation) {
    case kGrapnelLinear:
      return x;
    case kGrapnelRelu:
      return x > T(0) ? x : T(0);
    case kGrapnelRelu6:
      return x > T(0) ? (x < T(6) ? x : T(6)) : T(0);
    case kGrapnelElu:
      return x < T(0) ? std::expm1(x) : x;
    case kGrapnelLeakyRelu:
      return x > T(0) ? x : x * alpha;
    case kGrapnelTanh:
      return std::tanh(x);
    case kGrapnelSigmoid:
      return T(1) / (T(1) + std::exp(-x));
    case kGrapnelGeluExact:
      return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
    case kGrapnelGeluApproximate:
      return T(0.5) * x *
             (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
    case kGrapnelSwish:
      return x / (T(1) + std::exp(-x));
    case kGrapnelMish:
      return x * std::tanh((x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::abs(x))));
  }
  return x;
}

// y = activation(x * scale + bias + add). `scale` and `bias` have one element per column. `add` is
// a matrix like x that does not share x's memory; only where oneDNN adds it to the output may it be
// the output itself.
template <typename T>
struct Epilogue {
  const T* scale = nullptr;
  const T* bias = nullptr;
  const T* add = nullptr;
  GrapnelActivation activation = kGrapnelLinear;
  T alpha = T(0);

  bool empty() const { return !scale && !bias && !add && activation == kGrapnelLinear; }

  // Applies the epilogue to columns [first, first + columns) of rows [begin, end) of a matrix
  // `width` wide. Does nothing if T is not float or double.
  void Apply(T* x, int64_t begin, int64_t end, int64_t width, int64_t first,
             int64_t columns) const {
    if (empty()) return;
    if constexpr (std::is_floating_point_v<T>) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = x + i * width + first;
        if (scale) {
          for (int64_t j = 0; j < columns; ++j) row[j] *= scale[first + j];
        }
        if (bias) {
          for (int64_t j = 0; j < columns; ++j) row[j] += bias[first + j];
        }
        if (add) {
          const T* more = add + i * width + first;
          for (int64_t j = 0; j < columns; ++j) row[j] += more[j];
        }
        ApplyActivation(row, columns);
      }
    }
  }

 private:
  void ApplyActivation(T* row, int64_t n) const {
    // The two most common activations get their own loops, so that the compiler can vectorize them.
    if (activation == kGrapnelLinear) return;
    if (activation == kGrapnelRelu) {
      for (int64_t j = 0; j < n; ++j) row[j] = Activate(kGrapnelRelu, row[j], alpha);
    } else if (activation == kGrapnelRelu6) {
      for (int64_t j = 0; j < n; ++j) row[j] = Activate(kGrapnelRelu6, row[j], alpha);
    } else {
      for (int64_t j = 0; j < n; ++j) row[j] = Activate(activation, row[j], alpha);
    }
  }
};

// Returns `tensor`, of half or bfloat16, as floats in scratch memory.
Expected<Tensor> Widened(KernelContext& ctx, const Tensor& tensor);
// Rounds n floats into `out`, on all threads.
void NarrowInto(KernelContext& ctx, const float* in, Tensor& out);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_EPILOGUE_H_
