// Counts the kinds of elements of a tensor on the device.
#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {
inline namespace count_cu {

using Total = unsigned long long;  // a type that atomicAdd accepts
constexpr int kKinds = 6;

// Returns the kind of an element: -inf, +inf, NaN, negative, zero, positive.
template <typename T>
__device__ int KindOf(T element) {
  if constexpr (std::is_same_v<T, bool>) {
    return element ? 5 : 4;
  } else {
    auto x = Load(element);
    if constexpr (!std::is_integral_v<Compute<T>>) {
      if (x != x) return 2;
      if (isinf(x)) return x < 0 ? 0 : 1;
    }
    return x == 0 ? 4 : x > 0 ? 5 : 3;
  }
}

template <typename T>
__global__ void CountKernel(const T* from, int64_t elements, Total* totals) {
  __shared__ Total shared[kKinds];
  if (threadIdx.x < kKinds) shared[threadIdx.x] = 0;
  __syncthreads();
  Total own[kKinds] = {};
  for (int64_t i = FirstIndex(); i < elements; i += IndexStep()) {
    int kind = KindOf(from[i]);
    for (int k = 0; k < kKinds; ++k) own[k] += kind == k;
  }
  for (int k = 0; k < kKinds; ++k) {
    if (own[k]) atomicAdd(&shared[k], own[k]);
  }
  __syncthreads();
  if (threadIdx.x < kKinds && shared[threadIdx.x])
    atomicAdd(&totals[threadIdx.x], shared[threadIdx.x]);
}

}  // namespace count_cu

int32_t Count(GrapnelCudaStream* stream, GrapnelCudaType type, const void* from, int64_t elements,
              int64_t counts[6], GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    for (int k = 0; k < kKinds; ++k) counts[k] = 0;
    if (elements == 0) return;
    stream->Use();
    auto* totals = static_cast<Total*>(stream->Workspace(kKinds * sizeof(Total)));
    Check(cudaMemsetAsync(totals, 0, kKinds * sizeof(Total), stream->stream), "clearing counts");
    auto launch = [&](auto of) {
      using T = typename decltype(of)::Type;
      CountKernel<T><<<BlocksFor(elements), kThreads, 0, stream->stream>>>(
          static_cast<const T*>(from), elements, totals);
    };
    switch (type) {
      case kGrapnelCudaUint8:
        launch(Of<uint8_t>{});
        break;
      case kGrapnelCudaInt8:
        launch(Of<int8_t>{});
        break;
      case kGrapnelCudaBool:
        launch(Of<bool>{});
        break;
      default:
        ForNumbers(type, launch);
    }
    CheckLaunch();
    Total got[kKinds];
    Check(cudaMemcpyAsync(got, totals, sizeof got, cudaMemcpyDeviceToHost, stream->stream),
          "copying counts");
    Check(cudaStreamSynchronize(stream->stream), "the GPU's work");
    for (int k = 0; k < kKinds; ++k) counts[k] = static_cast<int64_t>(got[k]);
  });
}

}  // namespace grapnel::cuda
