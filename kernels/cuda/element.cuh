// Elements on the device: compute types of 16-bit floats, activations, offsets of operands.
#ifndef GRAPNEL_KERNELS_CUDA_ELEMENT_CUH_
#define GRAPNEL_KERNELS_CUDA_ELEMENT_CUH_

#include <limits>

#include "kernels/cuda/stream.h"

namespace grapnel::cuda {

// The type to compute in: float for 16-bit floats.
template <typename T>
struct ComputeOf {
  using Type = T;
};
template <>
struct ComputeOf<__half> {
  using Type = float;
};
template <>
struct ComputeOf<__nv_bfloat16> {
  using Type = float;
};
template <typename T>
using Compute = typename ComputeOf<T>::Type;

template <typename T>
__device__ Compute<T> Load(T value) {
  return static_cast<Compute<T>>(value);
}
template <>
inline __device__ float Load(__half value) {
  return __half2float(value);
}
template <>
inline __device__ float Load(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

template <typename T>
__device__ T Store(Compute<T> value) {
  return static_cast<T>(value);
}
template <>
inline __device__ __half Store(float value) {
  return __float2half_rn(value);
}
template <>
inline __device__ __nv_bfloat16 Store(float value) {
  return __float2bfloat16_rn(value);
}

template <typename T>
__device__ T Activate(GrapnelCudaActivation activation, T x, T alpha) {
  switch (activation) {
    case kGrapnelCudaLinear:
      return x;
    case kGrapnelCudaFusedRelu:
      return x > T(0) ? x : T(0);
    case kGrapnelCudaFusedRelu6:
      return x > T(0) ? (x < T(6) ? x : T(6)) : T(0);
    case kGrapnelCudaFusedElu:
      return x < T(0) ? expm1(x) : x;
    case kGrapnelCudaFusedLeakyRelu:
      return x > T(0) ? x : x * alpha;
    case kGrapnelCudaFusedTanh:
      return tanh(x);
    case kGrapnelCudaFusedSigmoid:
      return T(1) / (T(1) + exp(-x));
    case kGrapnelCudaFusedGeluExact:
      return T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440)));
    case kGrapnelCudaFusedGeluApproximate:
      return T(0.5) * x * (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  }
  return x;
}

// Evaluated at compile time, because the functions of numeric_limits are host functions.
template <typename C>
constexpr C kInfinity = std::numeric_limits<C>::infinity();
template <typename C>
constexpr C kNan = std::numeric_limits<C>::quiet_NaN();

inline __device__ int64_t FirstIndex() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
inline __device__ int64_t IndexStep() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

// Computes the offsets of `N` operands for element i of a walk. Uses 32-bit division where
// possible: 64-bit division takes about a hundred instructions.
template <int N>
__device__ void OffsetsAt(const GrapnelCudaWalk& walk, int64_t i, int64_t (&offsets)[N]) {
  for (int k = 0; k < N; ++k) offsets[k] = 0;
  for (int d = walk.rank - 1; d >= 0; --d) {
    int64_t index;
    if (d == 0) {
      index = i;
    } else if (i <= 0x7fffffff && walk.sizes[d] <= 0x7fffffff) {
      auto low = static_cast<uint32_t>(i), size = static_cast<uint32_t>(walk.sizes[d]);
      index = low % size;
      i = low / size;
    } else {
      index = i % walk.sizes[d];
      i /= walk.sizes[d];
    }
    for (int k = 0; k < N; ++k) offsets[k] += index * walk.strides[k][d];
  }
}

inline int64_t CountOf(const GrapnelCudaWalk& walk) {
  int64_t count = 1;
  for (int d = 0; d < walk.rank; ++d) count *= walk.sizes[d];
  return count;
}

// Gives every thread of the block the merge() of the values of all threads, in an order that
// depends only on the block size, which must be a power of two. `shared` has space for one value
// per thread.
template <typename A, typename Merge>
__device__ A BlockMerge(A value, A* shared, Merge merge) {
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      shared[threadIdx.x] = merge(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  return shared[0];
}

}  // namespace grapnel::cuda

#endif  // GRAPNEL_KERNELS_CUDA_ELEMENT_CUH_
