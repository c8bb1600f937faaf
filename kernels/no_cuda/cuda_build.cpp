// Replaces kernels/cuda in a build without CUDA: the same functions, but no module.
#include "kernels/cuda/cuda_build.h"

namespace grapnel {

bool HasCudaModule() { return false; }
const char* CudaBuildText() { return GRAPNEL_NO_CUDA_REASON; }

}  // namespace grapnel
