#include "kernels/cuda/elementwise_binary.cuh"

namespace grapnel::cuda {

GRAPNEL_BINARY_OF(int32_t);
GRAPNEL_BINARY_OF(int64_t);

int32_t Binary(GrapnelCudaStream* stream, GrapnelCudaBinary op, GrapnelCudaType type, void* to,
               const void* a, const void* b, const GrapnelCudaWalk* walk, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int64_t count = CountOf(*walk);
    if (count == 0) return;
    stream->Use();
    auto run = [&](auto of) {
      BinaryOf<typename decltype(of)::Type>(op, stream, to, a, b, count, *walk);
    };
    if (TakesIntegers(op)) {
      ForNumbers(type, run);
    } else {
      ForFloats(type, run);
    }
    CheckLaunch();
  });
}

}  // namespace grapnel::cuda
