// Casts elements from one dtype to another.
#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {
inline namespace cast_cu {

template <typename To, typename From>
__device__ To Converted(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return Load(value) != Compute<From>(0);
  } else {
    return Store<To>(static_cast<Compute<To>>(Load(value)));
  }
}

template <typename To, typename From>
__global__ void CastKernel(To* to, const From* from, int64_t count) {
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) to[i] = Converted<To>(from[i]);
}

template <typename Body>
void ForAll(GrapnelCudaType type, Body&& body) {
  switch (type) {
    case kGrapnelCudaUint8:
      return body(Of<uint8_t>{});
    case kGrapnelCudaInt8:
      return body(Of<int8_t>{});
    case kGrapnelCudaBool:
      return body(Of<bool>{});
    default:
      return ForNumbers(type, body);
  }
}

}  // namespace cast_cu

int32_t Cast(GrapnelCudaStream* stream, GrapnelCudaType to_type, void* to,
             GrapnelCudaType from_type, const void* from, int64_t count, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    if (count == 0) return;
    stream->Use();
    ForAll(to_type, [&](auto of_to) {
      ForAll(from_type, [&](auto of_from) {
        using To = typename decltype(of_to)::Type;
        using From = typename decltype(of_from)::Type;
        CastKernel<To, From><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
            static_cast<To*>(to), static_cast<const From*>(from), count);
      });
    });
    CheckLaunch();
  });
}

}  // namespace grapnel::cuda
