// Convolutions through cuDNN, with fused bias and Relu where cuDNN supports them; through a plain
// kernel where cuDNN does not support the convolution and for depthwise ones; through a matrix
// product for 1x1 filters with stride 1, one group and channels last. Full precision: float is
// multiplied as float, not as TF32.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {
inline namespace convolution_cu {

template <typename T, cudnnStatus_t (*kCreate)(T*), cudnnStatus_t (*kDestroy)(T)>
struct Handle {
  T value = nullptr;
  Handle() { Check(kCreate(&value), "describing a convolution"); }
  Handle(const Handle&) = delete;
  ~Handle() { kDestroy(value); }
};
using Image =
    Handle<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using Filter =
    Handle<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using Convolving = Handle<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                          cudnnDestroyConvolutionDescriptor>;
using Activating = Handle<cudnnActivationDescriptor_t, cudnnCreateActivationDescriptor,
                          cudnnDestroyActivationDescriptor>;

cudnnDataType_t DataTypeOf(GrapnelCudaType type) {
  switch (type) {
    case kGrapnelCudaFloat:
      return CUDNN_DATA_FLOAT;
    case kGrapnelCudaDouble:
      return CUDNN_DATA_DOUBLE;
    case kGrapnelCudaHalf:
      return CUDNN_DATA_HALF;
    case kGrapnelCudaBfloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      throw Failure("a convolution of dtype " + std::to_string(type) +
                    ": float, double, half or bfloat16 was expected");
  }
}

void Describe(const Image& image, const GrapnelCudaWindow& w, cudnnDataType_t type, int64_t batch,
              int64_t channels, int64_t height, int64_t width) {
  Check(cudnnSetTensor4dDescriptor(image.value,
                                   w.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, type,
                                   static_cast<int>(batch), static_cast<int>(channels),
                                   static_cast<int>(height), static_cast<int>(width)),
        "describing images");
}

// The operands of a call.
struct Operands {
  const GrapnelCudaWindow& window;
  GrapnelCudaType type;
  void* to;
  const void *from, *filter, *bias;
  GrapnelCudaActivation activation;
};
using Call = ConvolutionChoice::Call;

// False if cuDNN cannot compute this convolution: it pads both sides equally and counts in 32 bits,
// including the area beyond the image.
bool FitsCudnn(const GrapnelCudaWindow& w) {
  constexpr int64_t kMost = 0x7fffffff;
  double padded = static_cast<double>(w.batch) * w.in_channels;
  for (int d = 0; d < 2; ++d) {
    if (w.before[d] != w.after[d]) return false;
    double reach = static_cast<double>(w.kernel[d] - 1) * w.dilation[d];
    padded *= w.in[d] + std::max(2.0 * w.before[d], reach);
  }
  return padded <= kMost && w.batch * w.out_channels * w.out[0] * w.out[1] <= kMost;
}

// A convolution in cuDNN's descriptors.
struct Described {
  explicit Described(const Operands& op) {
    const GrapnelCudaWindow& w = op.window;
    cudnnDataType_t type = DataTypeOf(op.type);
    wide = type == CUDNN_DATA_DOUBLE;
    Describe(from, w, type, w.batch, w.in_channels, w.in[0], w.in[1]);
    Describe(to, w, type, w.batch, w.out_channels, w.out[0], w.out[1]);
    Check(cudnnSetFilter4dDescriptor(
              filter.value, type, w.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
              static_cast<int>(w.out_channels), static_cast<int>(w.in_channels / w.groups),
              static_cast<int>(w.kernel[0]), static_cast<int>(w.kernel[1])),
          "describing a filter");
    Check(cudnnSetConvolution2dDescriptor(
              convolving.value, static_cast<int>(w.before[0]), static_cast<int>(w.before[1]),
              static_cast<int>(w.stride[0]), static_cast<int>(w.stride[1]),
              static_cast<int>(w.dilation[0]), static_cast<int>(w.dilation[1]),
              CUDNN_CROSS_CORRELATION, wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
          "describing a convolution");
    Check(cudnnSetConvolutionGroupCount(convolving.value, static_cast<int>(w.groups)),
          "describing a convolution");
    bool small = op.type == kGrapnelCudaHalf || op.type == kGrapnelCudaBfloat16;
    Check(cudnnSetConvolutionMathType(convolving.value,
                                      small ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH),
          "describing a convolution");
  }
  Image from, to;
  Filter filter;
  Convolving convolving;
  bool wide;
};

// Queues the convolution as `choice` says; false if cuDNN refuses.
bool Convolve(GrapnelCudaStream* stream, const Operands& op, const Described& described,
              const ConvolutionChoice& choice) {
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  const void* alpha = described.wide ? static_cast<const void*>(&wide_one) : &one;
  const void* beta = described.wide ? static_cast<const void*>(&wide_zero) : &zero;
  void* workspace = choice.workspace ? stream->Workspace(choice.workspace) : nullptr;
  if (choice.call == Call::kProduct) {
    return cudnnConvolutionForward(stream->cudnn, alpha, described.from.value, op.from,
                                   described.filter.value, op.filter, described.convolving.value,
                                   choice.algorithm, workspace, choice.workspace, beta,
                                   described.to.value, op.to) == CUDNN_STATUS_SUCCESS;
  }
  Activating activating;
  Check(cudnnSetActivationDescriptor(activating.value,
                                     op.activation == kGrapnelCudaFusedRelu
                                         ? CUDNN_ACTIVATION_RELU
                                         : CUDNN_ACTIVATION_IDENTITY,
                                     CUDNN_NOT_PROPAGATE_NAN, 0),
        "describing an activation");
  Image bias;
  Describe(bias, op.window, DataTypeOf(op.type), 1, op.window.out_channels, 1, 1);
  return cudnnConvolutionBiasActivationForward(
             stream->cudnn, alpha, described.from.value, op.from, described.filter.value, op.filter,
             described.convolving.value, choice.algorithm, workspace, choice.workspace, beta,
             described.to.value, op.to, bias.value, op.bias, activating.value, described.to.value,
             op.to) == CUDNN_STATUS_SUCCESS;
}

// Queues the convolution with the first deterministic cuDNN algorithm that accepts it, within
// kMostWorkspace, and stores the algorithm in `choice`. False if there is none.
bool ChooseAndConvolve(GrapnelCudaStream* stream, const Operands& op, const Described& described,
                       ConvolutionChoice& choice) {
  constexpr size_t kMostWorkspace = size_t{256} << 20;
  cudnnConvolutionFwdAlgoPerf_t tried[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  cudnnStatus_t status = cudnnGetConvolutionForwardAlgorithm_v7(
      stream->cudnn, described.from.value, described.filter.value, described.convolving.value,
      described.to.value, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, tried);
  if (status != CUDNN_STATUS_SUCCESS) return false;
  bool relu = op.activation == kGrapnelCudaFusedRelu;
  bool fusable = op.bias && (relu || op.activation == kGrapnelCudaLinear);
  for (int i = 0; i < count; ++i) {
    const cudnnConvolutionFwdAlgoPerf_t& algorithm = tried[i];
    bool usable = algorithm.status == CUDNN_STATUS_SUCCESS && algorithm.memory <= kMostWorkspace &&
                  algorithm.determinism == CUDNN_DETERMINISTIC;
    if (!usable) continue;
    choice.algorithm = algorithm.algo;
    choice.workspace = algorithm.memory;
    // Without an activation, cuDNN fuses the bias only in this algorithm.
    if (fusable && (relu || algorithm.algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)) {
      choice.call = Call::kProductBiasActivation;
      if (Convolve(stream, op, described, choice)) return true;
    }
    choice.call = Call::kProduct;
    if (Convolve(stream, op, described, choice)) return true;
  }
  return false;
}

// Queues what cuDNN can do of the convolution, and returns that part; kPlainKernel if cuDNN can do
// nothing.
Call WithCudnn(GrapnelCudaStream* stream, const Operands& op) {
  if (!FitsCudnn(op.window)) return Call::kPlainKernel;
  ConvolutionChoice wanted;
  std::memset(static_cast<void*>(&wanted), 0, sizeof wanted);
  wanted.window = op.window;
  wanted.type = op.type;
  wanted.has_bias = op.bias != nullptr;
  wanted.activation = op.activation;
  constexpr size_t kKey = offsetof(ConvolutionChoice, algorithm);
  std::vector<ConvolutionChoice>& known = stream->convolution_choices;
  auto found = std::find_if(known.begin(), known.end(), [&](const ConvolutionChoice& choice) {
    return std::memcmp(&choice, &wanted, kKey) == 0;
  });
  if (found != known.end() && found->call == Call::kPlainKernel) return Call::kPlainKernel;
  if (!stream->cudnn) {
    Check(cudnnCreate(&stream->cudnn), "starting cuDNN");
    Check(cudnnSetStream(stream->cudnn, stream->stream), "starting cuDNN");
  }
  Described described(op);
  if (found != known.end()) {
    if (!Convolve(stream, op, described, *found)) throw Failure("cuDNN refused a convolution");
    return found->call;
  }
  if (!ChooseAndConvolve(stream, op, described, wanted)) wanted.call = Call::kPlainKernel;
  constexpr size_t kMost = 1024;
  if (known.size() == kMost) known.clear();
  known.push_back(wanted);
  return wanted.call;
}

// Runs a 1x1 filter on each pixel as a matrix product, which cuBLASLt starts in a tenth of the time
// that cuDNN takes. Includes bias and activation. False if the convolution does not have this form.
bool AsProduct(GrapnelCudaStream* stream, const Operands& op, float alpha) {
  const GrapnelCudaWindow& w = op.window;
  bool whole = w.groups == 1 && w.in_channels > 0;
  for (int d = 0; d < 2; ++d)
    whole &= w.kernel[d] == 1 && w.stride[d] == 1 && w.before[d] == 0 && w.in[d] == w.out[d];
  // With channels first the bias runs down the columns, which the product does not support.
  if (!whole || !w.channels_last) return false;
  GrapnelCudaMatMul spec;
  std::memset(&spec, 0, sizeof spec);
  spec.type = op.type;
  spec.a_batch = spec.b_batch = 1;
  spec.m = w.batch * w.out[0] * w.out[1];
  spec.n = w.out_channels;
  spec.k = w.in_channels;
  spec.transpose_b = 1;
  spec.activation = op.activation;
  spec.alpha = alpha;
  char why[256];
  if (MatMul(stream, &spec, op.to, op.from, op.filter, op.bias, why, sizeof why) != 0)
    throw Failure(why);
  return true;
}

// One thread per result.
template <typename T>
__global__ void PlainKernel(T* to, const T* from, const T* filter, int64_t count,
                            GrapnelCudaWindow w) {
  using C = Compute<T>;
  int64_t inputs = w.in_channels / w.groups, outputs = w.out_channels / w.groups;
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) {
    int64_t rest = i, channel, row, column;
    if (w.channels_last) {
      channel = rest % w.out_channels;
      rest /= w.out_channels;
      column = rest % w.out[1];
      rest /= w.out[1];
      row = rest % w.out[0];
      rest /= w.out[0];
    } else {
      column = rest % w.out[1];
      rest /= w.out[1];
      row = rest % w.out[0];
      rest /= w.out[0];
      channel = rest % w.out_channels;
      rest /= w.out_channels;
    }
    int64_t first = channel / outputs * inputs, area = w.in[0] * w.in[1];
    const T* image = from + rest * w.in_channels * area;
    const T* weights = filter + channel * inputs * w.kernel[0] * w.kernel[1];
    C sum = 0;
    for (int64_t ky = 0; ky < w.kernel[0]; ++ky) {
      int64_t y = row * w.stride[0] - w.before[0] + ky * w.dilation[0];
      if (y < 0 || y >= w.in[0]) continue;
      for (int64_t kx = 0; kx < w.kernel[1]; ++kx) {
        int64_t x = column * w.stride[1] - w.before[1] + kx * w.dilation[1];
        if (x < 0 || x >= w.in[1]) continue;
        int64_t pixel = y * w.in[1] + x, tap = ky * w.kernel[1] + kx;
        for (int64_t c = 0; c < inputs; ++c) {
          int64_t at =
              w.channels_last ? pixel * w.in_channels + first + c : (first + c) * area + pixel;
          int64_t weight = w.channels_last ? tap * inputs + c : c * w.kernel[0] * w.kernel[1] + tap;
          sum += Load(image[at]) * Load(weights[weight]);
        }
      }
    }
    to[i] = Store<T>(sum);
  }
}

}  // namespace convolution_cu

int32_t Convolution(GrapnelCudaStream* stream, GrapnelCudaType type,
                    const GrapnelCudaWindow* window, void* to, const void* from, const void* filter,
                    const void* bias, GrapnelCudaActivation activation, float alpha,
                    GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    const GrapnelCudaWindow& w = *window;
    int64_t pixels = w.out[0] * w.out[1], count = w.batch * w.out_channels * pixels;
    if (count == 0) return;
    stream->Use();
    // With one input channel per result a matrix product gains nothing: the plain kernel reads each
    // pixel as often as cuDNN and avoids its call overhead.
    bool depthwise = w.groups > 1 && w.groups == w.in_channels;
    bool anything = w.in_channels > 0 && w.in[0] > 0 && w.in[1] > 0;
    Operands operands = {w, type, to, from, filter, bias, activation};
    if (AsProduct(stream, operands, alpha)) return;
    Call done = Call::kPlainKernel;
    if (anything && !depthwise) done = WithCudnn(stream, operands);
    if (done == Call::kProductBiasActivation) return;
    if (done == Call::kPlainKernel) {
      ForFloats(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        PlainKernel<T><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
            static_cast<T*>(to), static_cast<const T*>(from), static_cast<const T*>(filter), count,
            w);
      });
      CheckLaunch();
    }
    if (!bias && activation == kGrapnelCudaLinear) return;
    char why[256];
    int64_t outer = w.channels_last ? w.batch * pixels : w.batch;
    if (Bias(stream, type, to, to, bias, outer, w.out_channels, w.channels_last ? 1 : pixels,
             activation, alpha, why, sizeof why) != 0)
      throw Failure(why);
  });
}

}  // namespace grapnel::cuda
