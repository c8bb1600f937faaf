// Ops that move elements without computing: fill, strided copies, gather, select.
#include <cstring>

#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {
inline namespace move_cu {

template <typename E>
__global__ void FillKernel(E* to, int64_t count, E value) {
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) to[i] = value;
}

template <typename E>
__global__ void CopyKernel(E* to, const E* from, int64_t count, GrapnelCudaWalk walk) {
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) {
    int64_t at[2];
    OffsetsAt(walk, i, at);
    to[at[1]] = from[at[0]];
  }
}

template <typename E, typename Index>
__global__ void GatherKernel(E* to, const E* from, const Index* indices, int64_t total,
                             int64_t limit, int64_t count, int64_t inner) {
  for (int64_t i = FirstIndex(); i < total; i += IndexStep()) {
    int64_t k = i % inner, row = i / inner;
    int64_t index = indices[row % count], outer = row / count;
    to[i] = index >= 0 && index < limit ? from[(outer * limit + index) * inner + k] : E(0);
  }
}

template <typename E>
__global__ void SelectKernel(E* to, const bool* condition, const E* a, const E* b, int64_t count,
                             GrapnelCudaWalk walk) {
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) {
    int64_t at[3];
    OffsetsAt(walk, i, at);
    to[i] = condition[at[0]] ? a[at[1]] : b[at[2]];
  }
}

}  // namespace move_cu

int32_t Fill(GrapnelCudaStream* stream, void* to, int64_t count, int32_t element_size,
             const void* value, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    if (count == 0) return;
    stream->Use();
    ForSizes(element_size, [&](auto of) {
      using E = typename decltype(of)::Type;
      E element;
      std::memcpy(&element, value, sizeof element);
      FillKernel<E>
          <<<BlocksFor(count), kThreads, 0, stream->stream>>>(static_cast<E*>(to), count, element);
    });
    CheckLaunch();
  });
}

int32_t CopyStrided(GrapnelCudaStream* stream, void* to, const void* from, int32_t element_size,
                    const GrapnelCudaWalk* walk, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int64_t count = CountOf(*walk);
    if (count == 0) return;
    stream->Use();
    ForSizes(element_size, [&](auto of) {
      using E = typename decltype(of)::Type;
      CopyKernel<E><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
          static_cast<E*>(to), static_cast<const E*>(from), count, *walk);
    });
    CheckLaunch();
  });
}

int32_t Gather(GrapnelCudaStream* stream, void* to, const void* from, int32_t element_size,
               GrapnelCudaType index_type, const void* indices, int64_t outer, int64_t limit,
               int64_t count, int64_t inner, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int64_t total = outer * count * inner;
    if (total == 0) return;
    stream->Use();
    ForSizes(element_size, [&](auto of) {
      using E = typename decltype(of)::Type;
      auto launch = [&](auto* typed) {
        GatherKernel<<<BlocksFor(total), kThreads, 0, stream->stream>>>(
            static_cast<E*>(to), static_cast<const E*>(from), typed, total, limit, count, inner);
      };
      if (index_type == kGrapnelCudaInt32) {
        launch(static_cast<const int32_t*>(indices));
      } else if (index_type == kGrapnelCudaInt64) {
        launch(static_cast<const int64_t*>(indices));
      } else {
        throw Failure("indices of dtype " + std::to_string(index_type) +
                      ": int32 or int64 was expected");
      }
    });
    CheckLaunch();
  });
}

int32_t Select(GrapnelCudaStream* stream, void* to, const void* condition, const void* a,
               const void* b, int32_t element_size, const GrapnelCudaWalk* walk,
               GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int64_t count = CountOf(*walk);
    if (count == 0) return;
    stream->Use();
    ForSizes(element_size, [&](auto of) {
      using E = typename decltype(of)::Type;
      SelectKernel<E><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
          static_cast<E*>(to), static_cast<const bool*>(condition), static_cast<const E*>(a),
          static_cast<const E*>(b), count, *walk);
    });
    CheckLaunch();
  });
}

}  // namespace grapnel::cuda
