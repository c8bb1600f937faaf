// Reports that the CUDA module was built, and its versions; the only file in this directory that is
// linked into the program.
#include "kernels/cuda/cuda_build.h"

namespace grapnel {

bool HasCudaModule() { return true; }
const char* CudaBuildText() { return GRAPNEL_CUDA_BUILD; }

}  // namespace grapnel
