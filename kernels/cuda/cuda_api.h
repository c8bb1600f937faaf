// The C ABI between the program and grapnel_cuda.so, which is opened when a GPU is first requested.
// C types only, and no include but <stdint.h>: the module does not depend on LLVM, protobuf or
// grapnel libraries.
#ifndef GRAPNEL_KERNELS_CUDA_CUDA_API_H_
#define GRAPNEL_KERNELS_CUDA_CUDA_API_H_

#include <stdint.h>

// Increment when anything below changes.
#define GRAPNEL_CUDA_API_VERSION 1
#define GRAPNEL_CUDA_ENTRY "GrapnelCudaEntry"
// The maximum rank of a GrapnelCudaWalk over tensors, after merging dimensions.
#define GRAPNEL_CUDA_MAX_RANK 8

extern "C" {

// TensorFlow's dtype numbers.
typedef enum GrapnelCudaType {
  kGrapnelCudaFloat = 1,
  kGrapnelCudaDouble = 2,
  kGrapnelCudaInt32 = 3,
  kGrapnelCudaUint8 = 4,
  kGrapnelCudaInt8 = 6,
  kGrapnelCudaInt64 = 9,
  kGrapnelCudaBool = 10,
  kGrapnelCudaBfloat16 = 14,
  kGrapnelCudaHalf = 19,
} GrapnelCudaType;

typedef enum GrapnelCudaUnary {
  kGrapnelCudaNeg = 0,
  kGrapnelCudaAbs,
  kGrapnelCudaSign,
  kGrapnelCudaSquare,
  kGrapnelCudaSqrt,
  kGrapnelCudaRsqrt,
  kGrapnelCudaReciprocal,
  kGrapnelCudaExp,
  kGrapnelCudaExpm1,
  kGrapnelCudaLog,
  kGrapnelCudaLog1p,
  kGrapnelCudaTanh,
  kGrapnelCudaSigmoid,
  kGrapnelCudaRelu,  // NaN stays NaN
  kGrapnelCudaRelu6,
  kGrapnelCudaElu,
  kGrapnelCudaLeakyRelu,  // with slope `alpha`
  kGrapnelCudaSoftplus,
  kGrapnelCudaSoftsign,
  kGrapnelCudaErf,
  kGrapnelCudaErfc,
  kGrapnelCudaFloor,
  kGrapnelCudaCeil,
  kGrapnelCudaRint,
  kGrapnelCudaSin,
  kGrapnelCudaCos,
  kGrapnelCudaUnaryCount,
} GrapnelCudaUnary;

typedef enum GrapnelCudaBinary {
  kGrapnelCudaAdd = 0,
  kGrapnelCudaSub,
  kGrapnelCudaMul,
  kGrapnelCudaDiv,  // integers: toward zero, and 0 where the divisor is 0
  kGrapnelCudaMaximum,
  kGrapnelCudaMinimum,
  kGrapnelCudaPow,  // floating-point types only
  kGrapnelCudaSquaredDifference,
  // Gradients, floating-point types only, with the argument order of TensorFlow's ops.
  kGrapnelCudaReluGrad,     // gradient, features
  kGrapnelCudaRelu6Grad,    // gradient, features
  kGrapnelCudaTanhGrad,     // y, dy
  kGrapnelCudaSigmoidGrad,  // y, dy
  kGrapnelCudaSqrtGrad,     // y, dy
  kGrapnelCudaRsqrtGrad,    // y, dy
  // Comparisons; the result is bool.
  kGrapnelCudaEqual,
  kGrapnelCudaNotEqual,
  kGrapnelCudaLess,
  kGrapnelCudaLessEqual,
  kGrapnelCudaGreater,
  kGrapnelCudaGreaterEqual,
  kGrapnelCudaBinaryCount,
} GrapnelCudaBinary;

typedef enum GrapnelCudaReduction {
  kGrapnelCudaSum = 0,
  kGrapnelCudaMean,
  kGrapnelCudaMax,
  kGrapnelCudaMin,
  kGrapnelCudaProd,
} GrapnelCudaReduction;

// The activation after a matrix product, a convolution or a bias. Relu and Relu6 turn NaN into 0,
// as TensorFlow's fused kernels do.
typedef enum GrapnelCudaActivation {
  kGrapnelCudaLinear = 0,
  kGrapnelCudaFusedRelu,
  kGrapnelCudaFusedRelu6,
  kGrapnelCudaFusedElu,
  kGrapnelCudaFusedLeakyRelu,  // with slope `alpha`
  kGrapnelCudaFusedTanh,
  kGrapnelCudaFusedSigmoid,
  kGrapnelCudaFusedGeluExact,
  kGrapnelCudaFusedGeluApproximate,
} GrapnelCudaActivation;

typedef struct GrapnelCudaDeviceInfo {
  char name[256];
  int64_t memory;        // bytes
  int32_t major, minor;  // compute capability
} GrapnelCudaDeviceInfo;

// An in-order queue of work on one device, with its own cuBLASLt and cuDNN handles and workspace.
// Only one thread at a time may queue work on it (the program holds a lock).
typedef struct GrapnelCudaStream GrapnelCudaStream;
typedef struct GrapnelCudaEvent GrapnelCudaEvent;

// A walk: where each operand has its element for each i below the product of `sizes`. Index d of i,
// row-major in `sizes`, moves operand k by strides[k][d] elements (0: repeated; negative:
// backward).
typedef struct GrapnelCudaWalk {
  int32_t rank;
  int64_t sizes[GRAPNEL_CUDA_MAX_RANK];
  int64_t strides[3][GRAPNEL_CUDA_MAX_RANK];
} GrapnelCudaWalk;

// A two-dimensional window over images: [batch, h, w, channels] if channels_last, else [batch,
// channels, h, w]. Must be zeroed before it is filled in, like GrapnelCudaMatMul.
typedef struct GrapnelCudaWindow {
  int32_t channels_last;
  int64_t batch, in_channels, out_channels, groups;
  int64_t in[2], out[2], kernel[2], stride[2], dilation[2], before[2], after[2];
} GrapnelCudaWindow;

// d[batch, m, n] = activation(a[batch, m, k] * b[batch, k, n] + bias[n] + addend), row-major. A
// transposed operand is stored as [.., k, m] or [.., n, k]. A batch of 1 is broadcast.
// `accumulate`: d holds the addend. Must be zeroed before it is filled in, because the algorithm
// cache compares specs as bytes.
typedef struct GrapnelCudaMatMul {
  GrapnelCudaType type;
  int64_t a_batch, b_batch, m, n, k;
  int32_t transpose_a, transpose_b, accumulate;
  GrapnelCudaActivation activation;
  float alpha;
} GrapnelCudaMatMul;

typedef enum GrapnelCudaWay {
  kGrapnelCudaFromHost = 0,  // returns after reading its source
  kGrapnelCudaToHost,
  kGrapnelCudaInside,
} GrapnelCudaWay;

// Addresses are on the stream's device unless said otherwise. Functions that compute or copy queue
// their work on the stream. Functions that can fail return 0 on success; otherwise they write the
// reason into `error` (error_size bytes, including the final 0). A result without elements is not
// written to.
#define GRAPNEL_CUDA_ERROR char *error, int32_t error_size
typedef struct GrapnelCudaApi {
  uint32_t version;
  // Sets `count` to the number of devices; fails when the driver is missing or too old.
  int32_t (*device_count)(int32_t* count, GRAPNEL_CUDA_ERROR);
  int32_t (*describe)(int32_t device, GrapnelCudaDeviceInfo* info, GRAPNEL_CUDA_ERROR);
  int32_t (*allocate)(int32_t device, int64_t bytes, void** memory, GRAPNEL_CUDA_ERROR);
  void (*release)(int32_t device, void* memory);

  int32_t (*make_stream)(int32_t device, GrapnelCudaStream** made, GRAPNEL_CUDA_ERROR);
  void (*destroy_stream)(GrapnelCudaStream* stream);
  int32_t (*wait_stream)(GrapnelCudaStream* stream, GRAPNEL_CUDA_ERROR);
  int32_t (*make_event)(int32_t device, GrapnelCudaEvent** made, GRAPNEL_CUDA_ERROR);
  void (*destroy_event)(GrapnelCudaEvent* event);
  int32_t (*record_event)(GrapnelCudaEvent* event, GrapnelCudaStream* stream, GRAPNEL_CUDA_ERROR);
  int32_t (*wait_event)(GrapnelCudaEvent* event, GRAPNEL_CUDA_ERROR);
  int32_t (*stream_waits_event)(GrapnelCudaStream* stream, GrapnelCudaEvent* event,
                                GRAPNEL_CUDA_ERROR);
  int32_t (*copy)(GrapnelCudaStream* stream, void* to, const void* from, int64_t bytes,
                  GrapnelCudaWay way, GRAPNEL_CUDA_ERROR);

  // `value` is in host memory: one element of 1, 2, 4 or 8 bytes.
  int32_t (*fill)(GrapnelCudaStream* stream, void* to, int64_t count, int32_t element_size,
                  const void* value, GRAPNEL_CUDA_ERROR);
  int32_t (*cast)(GrapnelCudaStream* stream, GrapnelCudaType to_type, void* to,
                  GrapnelCudaType from_type, const void* from, int64_t count, GRAPNEL_CUDA_ERROR);
  // For elements of 1, 2, 4 or 8 bytes: strides[0] of the walk is for `from`, strides[1] for `to`.
  // The two must not overlap.
  int32_t (*copy_strided)(GrapnelCudaStream* stream, void* to, const void* from,
                          int32_t element_size, const GrapnelCudaWalk* walk, GRAPNEL_CUDA_ERROR);
  // to[outer, i, inner] = from[outer, indices[i], inner]; 0 for an index outside [0, limit).
  int32_t (*gather)(GrapnelCudaStream* stream, void* to, const void* from, int32_t element_size,
                    GrapnelCudaType index_type, const void* indices, int64_t outer, int64_t limit,
                    int64_t count, int64_t inner, GRAPNEL_CUDA_ERROR);

  // Elementwise ops on float, half, bfloat16, double; Neg, Abs, Sign, Square and the binary ones
  // that are not marked as floating-point only also on int32 and int64. `to` may be an operand with
  // as many elements.
  int32_t (*unary)(GrapnelCudaStream* stream, GrapnelCudaUnary op, GrapnelCudaType type, void* to,
                   const void* from, int64_t count, float alpha, GRAPNEL_CUDA_ERROR);
  int32_t (*binary)(GrapnelCudaStream* stream, GrapnelCudaBinary op, GrapnelCudaType type, void* to,
                    const void* a, const void* b, const GrapnelCudaWalk* walk, GRAPNEL_CUDA_ERROR);
  // strides[0] is for the condition, which is bool; the next two are for `a` and `b`.
  int32_t (*select)(GrapnelCudaStream* stream, void* to, const void* condition, const void* a,
                    const void* b, int32_t element_size, const GrapnelCudaWalk* walk,
                    GRAPNEL_CUDA_ERROR);

  // Reduces the dimensions d for which bit d of `reduced` is set, for float, half, bfloat16,
  // double, int32 and int64. The order of additions depends only on the shape.
  int32_t (*reduce)(GrapnelCudaStream* stream, GrapnelCudaReduction op, GrapnelCudaType type,
                    void* to, const void* from, int32_t rank, const int64_t* dims, uint32_t reduced,
                    GRAPNEL_CUDA_ERROR);

  // The functions from here to `convolution` take only floating-point types.
  int32_t (*softmax)(GrapnelCudaStream* stream, GrapnelCudaType type, int32_t log, void* to,
                     const void* from, int64_t rows, int64_t columns, GRAPNEL_CUDA_ERROR);
  // Computes loss[rows] and gradient[rows, columns] of softmax cross entropy. With `label_type`
  // int32 or int64, labels are one class per row, and an invalid class yields NaN; otherwise labels
  // are [rows, columns] of `type`. `gradient` may be the logits.
  int32_t (*cross_entropy)(GrapnelCudaStream* stream, GrapnelCudaType type, void* loss,
                           void* gradient, const void* logits, GrapnelCudaType label_type,
                           const void* labels, int64_t rows, int64_t columns, GRAPNEL_CUDA_ERROR);
  // to[outer, channels, inner] = activation(from + bias[channels]); `bias` may be null.
  int32_t (*bias)(GrapnelCudaStream* stream, GrapnelCudaType type, void* to, const void* from,
                  const void* bias, int64_t outer, int64_t channels, int64_t inner,
                  GrapnelCudaActivation activation, float alpha, GRAPNEL_CUDA_ERROR);
  // The mean ignores padding. The window's in_channels are the channels; its dilation is 1.
  int32_t (*pool)(GrapnelCudaStream* stream, GrapnelCudaType type, int32_t max, void* to,
                  const void* from, const GrapnelCudaWindow* window, GRAPNEL_CUDA_ERROR);
  // `bias` may be null.
  int32_t (*matmul)(GrapnelCudaStream* stream, const GrapnelCudaMatMul* spec, void* to,
                    const void* a, const void* b, const void* bias, GRAPNEL_CUDA_ERROR);
  // The filter is [out_channels, h, w, in_channels / groups] for channels last, else [out_channels,
  // in_channels / groups, h, w]. `bias` may be null.
  int32_t (*convolution)(GrapnelCudaStream* stream, GrapnelCudaType type,
                         const GrapnelCudaWindow* window, void* to, const void* from,
                         const void* filter, const void* bias, GrapnelCudaActivation activation,
                         float alpha, GRAPNEL_CUDA_ERROR);

  // Sets `counts`, in host memory, to the numbers of -inf, +inf, NaN, negative, zero and positive
  // elements, and waits for the result. Accepts every GrapnelCudaType.
  int32_t (*count)(GrapnelCudaStream* stream, GrapnelCudaType type, const void* from,
                   int64_t elements, int64_t counts[6], GRAPNEL_CUDA_ERROR);
} GrapnelCudaApi;

// The one exported function, named GRAPNEL_CUDA_ENTRY. Returns null if the program has another
// version.
typedef const GrapnelCudaApi* (*GrapnelCudaEntryFn)(uint32_t version);

}  // extern "C"

#endif  // GRAPNEL_KERNELS_CUDA_CUDA_API_H_
