// That the CUDA module was built, and of what; the only file of this folder that the program links.
#include "kernels/gpu/cuda_build.h"

namespace grapnel {

const char* CudaModuleFile() { return "grapnel_cuda.so"; }
const char* CudaBuildText() { return GRAPNEL_CUDA_BUILD; }

}  // namespace grapnel
