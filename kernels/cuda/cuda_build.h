// Whether CUDA was found at build time. The functions are those of kernels/cuda if nvcc was found,
// else those of kernels/no_cuda.
#ifndef GRAPNEL_KERNELS_CUDA_CUDA_BUILD_H_
#define GRAPNEL_KERNELS_CUDA_CUDA_BUILD_H_

namespace grapnel {

// The file name of the module, next to the program; null if it was not built.
const char* CudaModuleFile();
// "CUDA 13.0, cuDNN 9.19", or "no CUDA: nvcc was not found".
const char* CudaBuildText();

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CUDA_CUDA_BUILD_H_
