// The kernels of elementwise ops with two operands, either of which may repeat along some
// dimensions. Each dtype family compiles in its own file, elementwise_binary*.cu.
#ifndef GRAPNEL_KERNELS_CUDA_ELEMENTWISE_BINARY_CUH_
#define GRAPNEL_KERNELS_CUDA_ELEMENTWISE_BINARY_CUH_

#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {

constexpr bool IsComparison(int op) { return op >= kGrapnelCudaEqual; }
constexpr bool TakesIntegers(int op) {
  return IsComparison(op) || (op <= kGrapnelCudaSquaredDifference && op != kGrapnelCudaPow);
}

template <typename C>
__device__ bool IsNan(C x) {
  return x != x;
}

template <GrapnelCudaBinary kOp, typename C>
__device__ auto ApplyBinary(C a, C b) {
  constexpr C kZero = 0;
  if constexpr (kOp == kGrapnelCudaAdd) return a + b;
  if constexpr (kOp == kGrapnelCudaSub) return a - b;
  if constexpr (kOp == kGrapnelCudaMul) return a * b;
  if constexpr (kOp == kGrapnelCudaDiv) {
    if constexpr (std::is_integral_v<C>) {
      // The smallest integer divided by -1 overflows.
      return b == 0       ? kZero
             : b == C(-1) ? static_cast<C>(0 - static_cast<std::make_unsigned_t<C>>(a))
                          : static_cast<C>(a / b);
    } else {
      return a / b;
    }
  }
  if constexpr (kOp == kGrapnelCudaMaximum) return IsNan(a) || a > b ? a : b;
  if constexpr (kOp == kGrapnelCudaMinimum) return IsNan(a) || a < b ? a : b;
  if constexpr (kOp == kGrapnelCudaPow) return pow(a, b);
  if constexpr (kOp == kGrapnelCudaSquaredDifference) return (a - b) * (a - b);
  if constexpr (kOp == kGrapnelCudaReluGrad) return b > kZero ? a : kZero;
  if constexpr (kOp == kGrapnelCudaRelu6Grad) return b > kZero && b < C(6) ? a : kZero;
  if constexpr (kOp == kGrapnelCudaTanhGrad) return b * (C(1) - a * a);
  if constexpr (kOp == kGrapnelCudaSigmoidGrad) return b * a * (C(1) - a);
  if constexpr (kOp == kGrapnelCudaSqrtGrad) return b * C(0.5) / a;
  if constexpr (kOp == kGrapnelCudaRsqrtGrad) return C(-0.5) * b * a * a * a;
  if constexpr (kOp == kGrapnelCudaEqual) return a == b;
  if constexpr (kOp == kGrapnelCudaNotEqual) return a != b;
  if constexpr (kOp == kGrapnelCudaLess) return a < b;
  if constexpr (kOp == kGrapnelCudaLessEqual) return a <= b;
  if constexpr (kOp == kGrapnelCudaGreater) return a > b;
  if constexpr (kOp == kGrapnelCudaGreaterEqual) return a >= b;
}

template <typename Out, typename R>
__device__ Out StoreResult(R value) {
  if constexpr (std::is_same_v<Out, bool>) {
    return value;
  } else {
    return Store<Out>(value);
  }
}

template <GrapnelCudaBinary kOp, typename T, typename Out>
__global__ void BinaryKernel(Out* to, const T* a, const T* b, int64_t count, GrapnelCudaWalk walk) {
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) {
    int64_t at[2];
    OffsetsAt(walk, i, at);
    to[i] = StoreResult<Out>(ApplyBinary<kOp, Compute<T>>(Load(a[at[0]]), Load(b[at[1]])));
  }
}

template <GrapnelCudaBinary kOp, typename T>
void LaunchBinary(GrapnelCudaStream* stream, void* to, const void* a, const void* b, int64_t count,
                  const GrapnelCudaWalk& walk) {
  using Out = std::conditional_t<IsComparison(kOp), bool, T>;
  BinaryKernel<kOp, T, Out><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
      static_cast<Out*>(to), static_cast<const T*>(a), static_cast<const T*>(b), count, walk);
}

// Finds `op` among the ops from kOp on, and runs it. For an integer T, only ops that support
// integers are instantiated.
template <typename T, int kOp>
void FindBinary(int op, GrapnelCudaStream* stream, void* to, const void* a, const void* b,
                int64_t count, const GrapnelCudaWalk& walk) {
  if constexpr (kOp == kGrapnelCudaBinaryCount) {
    throw Failure("there is no elementwise op " + std::to_string(op) + " of two operands");
  } else {
    if (op != kOp) return FindBinary<T, kOp + 1>(op, stream, to, a, b, count, walk);
    if constexpr (TakesIntegers(kOp) || !std::is_integral_v<T>)
      LaunchBinary<static_cast<GrapnelCudaBinary>(kOp), T>(stream, to, a, b, count, walk);
  }
}

template <typename T>
void BinaryOf(int op, GrapnelCudaStream* stream, void* to, const void* a, const void* b,
              int64_t count, const GrapnelCudaWalk& walk) {
  FindBinary<T, 0>(op, stream, to, a, b, count, walk);
}

#define GRAPNEL_BINARY_OF(T)                                                                   \
  template void BinaryOf<T>(int, GrapnelCudaStream*, void*, const void*, const void*, int64_t, \
                            const GrapnelCudaWalk&)
extern GRAPNEL_BINARY_OF(int32_t);
extern GRAPNEL_BINARY_OF(int64_t);
extern GRAPNEL_BINARY_OF(float);
extern GRAPNEL_BINARY_OF(double);
extern GRAPNEL_BINARY_OF(__half);
extern GRAPNEL_BINARY_OF(__nv_bfloat16);

}  // namespace grapnel::cuda

#endif  // GRAPNEL_KERNELS_CUDA_ELEMENTWISE_BINARY_CUH_
