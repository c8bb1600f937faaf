// What the build knows of CUDA: from kernels/cuda where nvcc was found, else from kernels/no_cuda.
#ifndef GRAPNEL_KERNELS_GPU_CUDA_BUILD_H_
#define GRAPNEL_KERNELS_GPU_CUDA_BUILD_H_

namespace grapnel {

// The file of the module, beside the program; null: it was not built.
const char* CudaModuleFile();
// "CUDA 13.0, cuDNN 9.19", or "no CUDA: nvcc was not found".
const char* CudaBuildText();

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_GPU_CUDA_BUILD_H_
