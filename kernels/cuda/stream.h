// Shared code of the CUDA module's files: a stream with its library handles, errors, launches.
#ifndef GRAPNEL_KERNELS_CUDA_STREAM_H_
#define GRAPNEL_KERNELS_CUDA_STREAM_H_

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_api.h"

namespace grapnel::cuda {

// Thrown within the module; no exception leaves it.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next call does not report it again
  throw Failure(std::string(what) + ": " + cudaGetErrorString(status));
}
inline void Check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Failure(std::string(what) + ": " + cublasLtGetStatusString(status));
}
inline void Check(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw Failure(std::string(what) + ": " + cudnnGetErrorString(status));
}

// Runs body() and returns 0. If it throws, writes the message into `error` and returns 1.
template <typename Body>
int32_t Guarded(char* error, int32_t error_size, Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& failure) {
    std::snprintf(error, error_size, "%s", failure.what());
    return 1;
  }
}

// cuBLASLt's algorithm for a product, keyed by everything that the choice depends on.
struct MatMulChoice {
  GrapnelCudaMatMul spec;
  int32_t alignment, has_bias;
  cublasLtMatmulAlgo_t algorithm;
};

// cuDNN's algorithm for a convolution, keyed by everything that the choice depends on. A query
// takes a millisecond, as long as many convolutions.
struct ConvolutionChoice {
  GrapnelCudaWindow window;
  GrapnelCudaType type;
  int32_t has_bias;
  GrapnelCudaActivation activation;
  cudnnConvolutionFwdAlgo_t algorithm;
  size_t workspace;  // bytes
  enum Call : int32_t { kPlainKernel, kProduct, kProductBiasActivation } call;
};

}  // namespace grapnel::cuda

struct GrapnelCudaStream {
  int32_t device = 0;
  cudaStream_t stream = nullptr;
  // Created on first use: both libraries take long to start.
  cublasLtHandle_t cublas = nullptr;
  cudnnHandle_t cudnn = nullptr;
  std::vector<grapnel::cuda::MatMulChoice> choices;
  std::vector<grapnel::cuda::ConvolutionChoice> convolution_choices;
  // Used only by work queued on this stream; grows, and is freed with the stream.
  void* workspace = nullptr;
  size_t workspace_size = 0;

  void Use() const { grapnel::cuda::Check(cudaSetDevice(device), "choosing the device"); }
  void* Workspace(size_t bytes);
};

struct GrapnelCudaEvent {
  int32_t device = 0;
  cudaEvent_t event = nullptr;
};

namespace grapnel::cuda {

constexpr int kThreads = 256;

// Returns the number of blocks for `count` units of work with grid-stride loops.
inline unsigned BlocksFor(int64_t count) {
  constexpr int64_t kMostBlocks = 1 << 15;
  int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < kMostBlocks ? blocks : kMostBlocks);
}

inline void CheckLaunch() { Check(cudaGetLastError(), "starting a kernel"); }

inline size_t SizeOf(GrapnelCudaType type) {
  switch (type) {
    case kGrapnelCudaUint8:
    case kGrapnelCudaInt8:
    case kGrapnelCudaBool:
      return 1;
    case kGrapnelCudaHalf:
    case kGrapnelCudaBfloat16:
      return 2;
    case kGrapnelCudaFloat:
    case kGrapnelCudaInt32:
      return 4;
    case kGrapnelCudaDouble:
    case kGrapnelCudaInt64:
      return 8;
  }
  throw Failure("dtype " + std::to_string(type) + " is not one of the CUDA module's");
}

template <typename T>
struct Of {
  using Type = T;
};

// Calls body(Of<T>{}) with the C++ type of a floating-point dtype.
template <typename Body>
void ForFloats(GrapnelCudaType type, Body&& body) {
  switch (type) {
    case kGrapnelCudaFloat:
      return body(Of<float>{});
    case kGrapnelCudaDouble:
      return body(Of<double>{});
    case kGrapnelCudaHalf:
      return body(Of<__half>{});
    case kGrapnelCudaBfloat16:
      return body(Of<__nv_bfloat16>{});
    default:
      throw Failure("dtype " + std::to_string(type) +
                    ": float, double, half or bfloat16 was expected");
  }
}
// ForFloats() for floating-point dtypes, int32 and int64.
template <typename Body>
void ForNumbers(GrapnelCudaType type, Body&& body) {
  switch (type) {
    case kGrapnelCudaInt32:
      return body(Of<int32_t>{});
    case kGrapnelCudaInt64:
      return body(Of<int64_t>{});
    default:
      return ForFloats(type, body);
  }
}
// Calls body() with the unsigned integer type of an element size.
template <typename Body>
void ForSizes(int32_t element_size, Body&& body) {
  switch (element_size) {
    case 1:
      return body(Of<uint8_t>{});
    case 2:
      return body(Of<uint16_t>{});
    case 4:
      return body(Of<uint32_t>{});
    case 8:
      return body(Of<uint64_t>{});
    default:
      throw Failure("elements of " + std::to_string(element_size) +
                    " bytes: 1, 2, 4 or 8 were expected");
  }
}

// The functions of the API table, each in the file of its family.
int32_t Fill(GrapnelCudaStream*, void*, int64_t, int32_t, const void*, GRAPNEL_CUDA_ERROR);
int32_t Cast(GrapnelCudaStream*, GrapnelCudaType, void*, GrapnelCudaType, const void*, int64_t,
             GRAPNEL_CUDA_ERROR);
int32_t CopyStrided(GrapnelCudaStream*, void*, const void*, int32_t, const GrapnelCudaWalk*,
                    GRAPNEL_CUDA_ERROR);
int32_t Gather(GrapnelCudaStream*, void*, const void*, int32_t, GrapnelCudaType, const void*,
               int64_t, int64_t, int64_t, int64_t, GRAPNEL_CUDA_ERROR);
int32_t Select(GrapnelCudaStream*, void*, const void*, const void*, const void*, int32_t,
               const GrapnelCudaWalk*, GRAPNEL_CUDA_ERROR);
int32_t Unary(GrapnelCudaStream*, GrapnelCudaUnary, GrapnelCudaType, void*, const void*, int64_t,
              float, GRAPNEL_CUDA_ERROR);
int32_t Binary(GrapnelCudaStream*, GrapnelCudaBinary, GrapnelCudaType, void*, const void*,
               const void*, const GrapnelCudaWalk*, GRAPNEL_CUDA_ERROR);
int32_t Reduce(GrapnelCudaStream*, GrapnelCudaReduction, GrapnelCudaType, void*, const void*,
               int32_t, const int64_t*, uint32_t, GRAPNEL_CUDA_ERROR);
int32_t Softmax(GrapnelCudaStream*, GrapnelCudaType, int32_t, void*, const void*, int64_t, int64_t,
                GRAPNEL_CUDA_ERROR);
int32_t CrossEntropy(GrapnelCudaStream*, GrapnelCudaType, void*, void*, const void*,
                     GrapnelCudaType, const void*, int64_t, int64_t, GRAPNEL_CUDA_ERROR);
int32_t Bias(GrapnelCudaStream*, GrapnelCudaType, void*, const void*, const void*, int64_t, int64_t,
             int64_t, GrapnelCudaActivation, float, GRAPNEL_CUDA_ERROR);
int32_t Pool(GrapnelCudaStream*, GrapnelCudaType, int32_t, void*, const void*,
             const GrapnelCudaWindow*, GRAPNEL_CUDA_ERROR);
int32_t MatMul(GrapnelCudaStream*, const GrapnelCudaMatMul*, void*, const void*, const void*,
               const void*, GRAPNEL_CUDA_ERROR);
int32_t Convolution(GrapnelCudaStream*, GrapnelCudaType, const GrapnelCudaWindow*, void*,
                    const void*, const void*, const void*, GrapnelCudaActivation, float,
                    GRAPNEL_CUDA_ERROR);
int32_t Count(GrapnelCudaStream*, GrapnelCudaType, const void*, int64_t, int64_t[6],
              GRAPNEL_CUDA_ERROR);

}  // namespace grapnel::cuda

#endif  // GRAPNEL_KERNELS_CUDA_STREAM_H_
