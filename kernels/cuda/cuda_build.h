// Whether the CUDA module was built. The functions are those of kernels/cuda if it was, else those
// of kernels/no_cuda.
#ifndef GRAPNEL_KERNELS_CUDA_CUDA_BUILD_H_
#define GRAPNEL_KERNELS_CUDA_CUDA_BUILD_H_

namespace grapnel {

bool HasCudaModule();
// The versions or the reason: "CUDA 13.0, cuDNN 9.19", "no CUDA: nvcc was not found".
const char* CudaBuildText();

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CUDA_CUDA_BUILD_H_
