// The parts of CUDA's runtime and of cuBLASLt that the module calls, for one GPU in host memory.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace {

struct Matrix {
  uint64_t rows, columns;
  int64_t step;
  int32_t batch = 1;
  int64_t stride = 0;
  cudaDataType_t type;
};
struct Product {
  int32_t transpose_a = 0, transpose_b = 0, epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

// An attribute size that the emulation does not know is a bug in the test.
template <typename T>
void Read(T* to, const void* from, size_t size) {
  if (size != sizeof(T)) std::abort();
  std::memcpy(to, from, size);
}

template <typename Handle>
Handle NewHandle() {
  return reinterpret_cast<Handle>(std::malloc(1));
}

double Finish(int32_t epilogue, double x) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      return x > 0 ? x : 0;
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    default:
      return x;
  }
}

double Wide(double x) { return x; }
double Wide(float x) { return x; }
double Wide(__half x) { return __half2float(x); }
double Wide(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T>
void Multiply(const Product& product, const Matrix& a, const T* left, const Matrix& b,
              const T* right, const Matrix& d, T* to, double beta) {
  uint64_t length = product.transpose_a ? a.rows : a.columns;
  bool fits = (product.transpose_a ? a.columns : a.rows) == d.rows &&
              (product.transpose_b ? b.rows : b.columns) == d.columns &&
              (product.transpose_b ? b.columns : b.rows) == length && a.batch == d.batch &&
              b.batch == d.batch;
  if (!fits) std::abort();
  for (int32_t i = 0; i < d.batch; ++i) {
    for (uint64_t column = 0; column < d.columns; ++column) {
      for (uint64_t row = 0; row < d.rows; ++row) {
        double sum = 0;
        for (uint64_t k = 0; k < length; ++k) {
          uint64_t at = product.transpose_a ? k + row * a.step : row + k * a.step;
          uint64_t bt = product.transpose_b ? column + k * b.step : k + column * b.step;
          sum += Wide(left[i * a.stride + at]) * Wide(right[i * b.stride + bt]);
        }
        T* result = to + i * d.stride + row + column * d.step;
        if (beta != 0) sum += beta * Wide(*result);
        if (product.bias) sum += Wide(static_cast<const T*>(product.bias)[row]);
        *result = static_cast<T>(Finish(product.epilogue, sum));
      }
    }
  }
}

}  // namespace

extern "C" {

// --- The runtime
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "emulated GPU");
  properties->totalGlobalMem = size_t{1} << 30;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaMalloc(void** memory, size_t size) {
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  std::memset(*memory, 0xDD, size);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = NewHandle<cudaStream_t>();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::free(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = NewHandle<cudaEvent_t>();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  std::free(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t) {
  std::memmove(to, from, size);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t) {
  std::memset(to, value, size);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void*) {
  attributes->type = cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an emulated error"; }

// --- cuBLASLt
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = NewHandle<cublasLtHandle_t>();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  std::free(handle);
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusString(cublasStatus_t) { return "an emulated status"; }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                        cudaDataType_t) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  delete reinterpret_cast<Product*>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  auto* product = reinterpret_cast<Product*>(made);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      Read(&product->transpose_a, value, size);
      break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      Read(&product->transpose_b, value, size);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      Read(&product->epilogue, value, size);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      Read(&product->bias, value, size);
      break;
    default:
      std::abort();
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t step) {
  auto* matrix = new Matrix;
  matrix->rows = rows;
  matrix->columns = columns;
  matrix->step = step;
  matrix->type = type;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(matrix);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete reinterpret_cast<Matrix*>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t made,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size) {
  auto* matrix = reinterpret_cast<Matrix*>(made);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    Read(&matrix->batch, value, size);
  } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
    Read(&matrix->stride, value, size);
  } else {
    std::abort();
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = NewHandle<cublasLtMatmulPreference_t>();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  std::free(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t* result, int* found) {
  std::memset(result, 0, sizeof *result);
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t made, const void*,
                              const void* left, cublasLtMatrixLayout_t a, const void* right,
                              cublasLtMatrixLayout_t b, const void* beta, const void*,
                              cublasLtMatrixLayout_t, void* to, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t) {
  const auto& product = *reinterpret_cast<Product*>(made);
  const auto &of_a = *reinterpret_cast<Matrix*>(a), &of_b = *reinterpret_cast<Matrix*>(b),
             &of_d = *reinterpret_cast<Matrix*>(d);
  double addend = of_d.type == CUDA_R_64F ? *static_cast<const double*>(beta)
                                          : static_cast<double>(*static_cast<const float*>(beta));
  auto multiply = [&](auto* result) {
    using T = std::remove_pointer_t<decltype(result)>;
    Multiply(product, of_a, static_cast<const T*>(left), of_b, static_cast<const T*>(right), of_d,
             result, addend);
  };
  switch (of_d.type) {
    case CUDA_R_32F:
      multiply(static_cast<float*>(to));
      break;
    case CUDA_R_64F:
      multiply(static_cast<double*>(to));
      break;
    case CUDA_R_16F:
      multiply(static_cast<__half*>(to));
      break;
    case CUDA_R_16BF:
      multiply(static_cast<__nv_bfloat16*>(to));
      break;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
