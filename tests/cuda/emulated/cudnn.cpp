// The parts of cuDNN that the module calls, as plain loops. Like the real library it has algorithms
// for only some convolutions, offers some that the module must not use, and fuses what each
// algorithm supports, so that the self test takes every path of the module.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cudnn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace {

struct Block {  // images or filters: n of c channels
  cudnnDataType_t type;
  cudnnTensorFormat_t format;
  int n, c, h, w;
};
struct Window {
  int pad[2], stride[2], dilation[2];
  int groups = 1;
  cudnnDataType_t compute;
};
struct Activation {
  cudnnActivationMode_t mode;
};

int products = 0, fused_products = 0;

// Aborts on a call that cuDNN would reject: a bug in the module.
void Demand(bool holds) {
  if (!holds) std::abort();
}

template <typename T, typename Handle>
T& In(Handle handle) {
  return *reinterpret_cast<T*>(handle);
}
template <typename T, typename Handle>
cudnnStatus_t Make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(new T());
  return CUDNN_STATUS_SUCCESS;
}
template <typename T, typename Handle>
cudnnStatus_t Destroy(Handle handle) {
  delete reinterpret_cast<T*>(handle);
  return CUDNN_STATUS_SUCCESS;
}
template <typename Handle>
cudnnStatus_t SetBlock(Handle handle, Block block) {
  Demand(block.n > 0 && block.c > 0 && block.h > 0 && block.w > 0);
  In<Block>(handle) = block;
  return CUDNN_STATUS_SUCCESS;
}

int64_t At(const Block& b, int n, int c, int y, int x) {
  return b.format == CUDNN_TENSOR_NHWC ? ((int64_t{n} * b.h + y) * b.w + x) * b.c + c
                                       : ((int64_t{n} * b.c + c) * b.h + y) * b.w + x;
}

double Wide(float x) { return x; }
double Wide(double x) { return x; }
double Wide(__half x) { return __half2float(x); }
double Wide(__nv_bfloat16 x) { return __bfloat162float(x); }

bool OutputFits(const Block& from, const Block& filter, const Window& w, const Block& to) {
  int in[] = {from.h, from.w}, kernel[] = {filter.h, filter.w}, out[] = {to.h, to.w};
  for (int d = 0; d < 2; ++d) {
    int reach = w.dilation[d] * (kernel[d] - 1) + 1;
    if (out[d] != (in[d] + 2 * w.pad[d] - reach) / w.stride[d] + 1) return false;
  }
  return to.n == from.n && to.c == filter.n && from.c == filter.c * w.groups &&
         filter.n % w.groups == 0 && from.type == to.type && from.type == filter.type;
}

struct Call {
  const Block &from_block, &filter_block, &to_block;
  const Window& window;
  const void *from, *filter, *bias;
  void* to;
  bool relu;
};

template <typename T>
double SumAt(const Call& call, int n, int o, int y, int x) {
  const Block &from = call.from_block, &filter = call.filter_block;
  const Window& w = call.window;
  int first = o / (filter.n / w.groups) * filter.c;
  double sum = 0;
  for (int c = 0; c < filter.c; ++c) {
    for (int ky = 0; ky < filter.h; ++ky) {
      for (int kx = 0; kx < filter.w; ++kx) {
        int iy = y * w.stride[0] - w.pad[0] + ky * w.dilation[0],
            ix = x * w.stride[1] - w.pad[1] + kx * w.dilation[1];
        if (iy < 0 || iy >= from.h || ix < 0 || ix >= from.w) continue;
        sum += Wide(static_cast<const T*>(call.from)[At(from, n, first + c, iy, ix)]) *
               Wide(static_cast<const T*>(call.filter)[At(filter, o, c, ky, kx)]);
      }
    }
  }
  return sum;
}

template <typename T>
void Convolve(const Call& call) {
  const Block& to = call.to_block;
  for (int n = 0; n < to.n; ++n) {
    for (int o = 0; o < to.c; ++o) {
      for (int y = 0; y < to.h; ++y) {
        for (int x = 0; x < to.w; ++x) {
          double sum = SumAt<T>(call, n, o, y, x);
          if (call.bias) sum += Wide(static_cast<const T*>(call.bias)[o]);
          if (call.relu && !(sum > 0)) sum = 0;
          static_cast<T*>(call.to)[At(to, n, o, y, x)] = static_cast<T>(sum);
        }
      }
    }
  }
}

cudnnStatus_t Run(const Call& call) {
  Demand(OutputFits(call.from_block, call.filter_block, call.window, call.to_block));
  switch (call.to_block.type) {
    case CUDNN_DATA_FLOAT:
      Convolve<float>(call);
      break;
    case CUDNN_DATA_DOUBLE:
      Convolve<double>(call);
      break;
    case CUDNN_DATA_HALF:
      Convolve<__half>(call);
      break;
    case CUDNN_DATA_BFLOAT16:
      Convolve<__nv_bfloat16>(call);
      break;
    default:
      return CUDNN_STATUS_NOT_SUPPORTED;
  }
  return CUDNN_STATUS_SUCCESS;
}

bool IsOneAndZero(cudnnDataType_t type, const void* alpha, const void* beta) {
  if (type == CUDNN_DATA_DOUBLE)
    return *static_cast<const double*>(alpha) == 1 && *static_cast<const double*>(beta) == 0;
  return *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0;
}

constexpr size_t kWorkspace = 64;

// The requested workspace must exist and be writable.
void UseWorkspace(cudnnConvolutionFwdAlgo_t algorithm, void* workspace, size_t size) {
  if (algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM) return;
  Demand(workspace && size == kWorkspace);
  std::memset(workspace, 0xDD, size);
}

cudnnConvolutionFwdAlgoPerf_t Offer(cudnnConvolutionFwdAlgo_t algorithm, size_t memory,
                                    cudnnDeterminism_t determinism = CUDNN_DETERMINISTIC) {
  cudnnConvolutionFwdAlgoPerf_t offer;
  std::memset(&offer, 0, sizeof offer);
  offer.algo = algorithm;
  offer.status = CUDNN_STATUS_SUCCESS;
  offer.memory = memory;
  offer.determinism = determinism;
  return offer;
}

}  // namespace

extern "C" {

// The numbers of convolutions that ran, for the self test.
int EmulatedConvolutions() { return products; }
int EmulatedFusedConvolutions() { return fused_products; }

const char* cudnnGetErrorString(cudnnStatus_t) { return "an emulated status"; }
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return Make<int>(handle); }
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return Destroy<int>(handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; }

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) {
  return Make<Block>(made);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t made) {
  return Destroy<Block>(made);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t made, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  return SetBlock(made, {type, format, n, c, h, w});
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made) {
  return Make<Block>(made);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t made) {
  return Destroy<Block>(made);
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t made, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int n, int c, int h, int w) {
  return SetBlock(made, {type, format, n, c, h, w});
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made) {
  return Make<Window>(made);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t made) {
  return Destroy<Window>(made);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t made, int pad_h,
                                              int pad_w, int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute) {
  Demand(mode == CUDNN_CROSS_CORRELATION && pad_h >= 0 && pad_w >= 0);
  In<Window>(made) = {{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}, 1, compute};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t made, int groups) {
  In<Window>(made).groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t) {
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* made) {
  return Make<Activation>(made);
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t made) {
  return Destroy<Activation>(made);
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t made,
                                           cudnnActivationMode_t mode, cudnnNanPropagation_t,
                                           double) {
  In<Activation>(made).mode = mode;
  return CUDNN_STATUS_SUCCESS;
}

// For groups, offers nothing in NHWC, and in NCHW an algorithm without a fused bias. Otherwise
// offers one that needs more memory than there is, one that is not deterministic, and a usable one.
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t from, const cudnnFilterDescriptor_t filter,
    const cudnnConvolutionDescriptor_t made, const cudnnTensorDescriptor_t to, const int most,
    int* count, cudnnConvolutionFwdAlgoPerf_t* offers) {
  const auto& window = In<Window>(made);
  const auto& images = In<Block>(from);
  Demand(OutputFits(images, In<Block>(filter), window, In<Block>(to)) && most >= 3);
  Demand((window.compute == CUDNN_DATA_DOUBLE) == (images.type == CUDNN_DATA_DOUBLE));
  if (window.groups > 1 && images.format == CUDNN_TENSOR_NHWC) return CUDNN_STATUS_NOT_SUPPORTED;
  *count = 0;
  if (window.groups > 1) {
    offers[(*count)++] = Offer(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0);
    return CUDNN_STATUS_SUCCESS;
  }
  offers[(*count)++] = Offer(CUDNN_CONVOLUTION_FWD_ALGO_FFT, size_t{1} << 40);
  offers[(*count)++] = Offer(CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, 0, CUDNN_NON_DETERMINISTIC);
  offers[(*count)++] = Offer(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, kWorkspace);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void* alpha,
                                      const cudnnTensorDescriptor_t from_block, const void* from,
                                      const cudnnFilterDescriptor_t filter_block,
                                      const void* filter, const cudnnConvolutionDescriptor_t made,
                                      cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                      size_t size, const void* beta,
                                      const cudnnTensorDescriptor_t to_block, void* to) {
  const auto& images = In<Block>(from_block);
  Demand(IsOneAndZero(images.type, alpha, beta));
  UseWorkspace(algorithm, workspace, size);
  ++products;
  return Run({images, In<Block>(filter_block), In<Block>(to_block), In<Window>(made), from, filter,
              nullptr, to, false});
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t, const void* alpha, const cudnnTensorDescriptor_t from_block, const void* from,
    const cudnnFilterDescriptor_t filter_block, const void* filter,
    const cudnnConvolutionDescriptor_t made, cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
    size_t size, const void* beta, const cudnnTensorDescriptor_t, const void*,
    const cudnnTensorDescriptor_t bias_block, const void* bias,
    const cudnnActivationDescriptor_t activating, const cudnnTensorDescriptor_t to_block,
    void* to) {
  const auto &images = In<Block>(from_block), &results = In<Block>(to_block),
             &added = In<Block>(bias_block);
  Demand(IsOneAndZero(images.type, alpha, beta) && added.n == 1 && added.c == results.c &&
         added.h == 1 && added.w == 1);
  bool relu = In<Activation>(activating).mode == CUDNN_ACTIVATION_RELU;
  if (!relu && algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
    return CUDNN_STATUS_NOT_SUPPORTED;
  UseWorkspace(algorithm, workspace, size);
  ++fused_products;
  return Run(
      {images, In<Block>(filter_block), results, In<Window>(made), from, filter, bias, to, relu});
}

}  // extern "C"
