// The C ABI between the program and grapnel_cuda.so, which is opened when a GPU is first asked for.
// Plain C, and nothing but itself included: the module knows no LLVM, no protobuf and no room.
#ifndef GRAPNEL_KERNELS_CUDA_CUDA_API_H_
#define GRAPNEL_KERNELS_CUDA_CUDA_API_H_

#include <stdint.h>

// Changes with anything below.
#define GRAPNEL_CUDA_API_VERSION 1
#define GRAPNEL_CUDA_ENTRY "GrapnelCudaEntry"
// Dimensions of a walk over tensors, after those that go together have been merged.
#define GRAPNEL_CUDA_MAX_RANK 8

extern "C" {

// TensorFlow's numbers of its dtypes.
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
  kGrapnelCudaRelu,  // a NaN stays one
  kGrapnelCudaRelu6,
  kGrapnelCudaElu,
  kGrapnelCudaLeakyRelu,  // alpha
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
  kGrapnelCudaDiv,  // of integers: towards zero, and 0 where the divisor is 0
  kGrapnelCudaMaximum,
  kGrapnelCudaMinimum,
  kGrapnelCudaPow,  // floats only
  kGrapnelCudaSquaredDifference,
  // Gradients, floats only, with the arguments as TensorFlow's ops have them.
  kGrapnelCudaReluGrad,     // gradient, features
  kGrapnelCudaRelu6Grad,    // gradient, features
  kGrapnelCudaTanhGrad,     // y, dy
  kGrapnelCudaSigmoidGrad,  // y, dy
  kGrapnelCudaSqrtGrad,     // y, dy
  kGrapnelCudaRsqrtGrad,    // y, dy
  // The result of these is bool.
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

// What follows a matrix product, a convolution or a bias; a NaN becomes 0 in Relu and Relu6, as in
// TensorFlow's fused kernels.
typedef enum GrapnelCudaActivation {
  kGrapnelCudaLinear = 0,
  kGrapnelCudaFusedRelu,
  kGrapnelCudaFusedRelu6,
  kGrapnelCudaFusedElu,
  kGrapnelCudaFusedLeakyRelu,  // alpha
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

// Work on one device, in order; with its own cuBLASLt and cuDNN handles and workspace, so that one
// stream is used by one thread at a time while it queues (the program holds a lock).
typedef struct GrapnelCudaStream GrapnelCudaStream;
typedef struct GrapnelCudaEvent GrapnelCudaEvent;

// How operands are read while element i of a dense result is made: index d of i, row-major in
// `sizes`, moves operand k by strides[k][d] elements (0: repeated; negative: backwards).
typedef struct GrapnelCudaWalk {
  int32_t rank;
  int64_t sizes[GRAPNEL_CUDA_MAX_RANK];
  int64_t strides[3][GRAPNEL_CUDA_MAX_RANK];
} GrapnelCudaWalk;

// A two-dimensional window over images. Channels last: [batch, h, w, channels], else [batch,
// channels, h, w]. Zeroed before it is filled in, as GrapnelCudaMatMul.
typedef struct GrapnelCudaWindow {
  int32_t channels_last;
  int64_t batch, in_channels, out_channels, groups;
  int64_t in[2], out[2], kernel[2], stride[2], dilation[2], before[2], after[2];
} GrapnelCudaWindow;

// d[batch, m, n] = activation(a[batch, m, k] * b[batch, k, n] + bias[n] + addend), row-major.
// A transposed operand lies as [.., k, m] or [.., n, k]. A batch of 1 is used for all.
// `accumulate`: d holds the addend. Zeroed before it is filled in: what was chosen for one is found
// again by its bytes.
typedef struct GrapnelCudaMatMul {
  GrapnelCudaType type;
  int64_t a_batch, b_batch, m, n, k;
  int32_t transpose_a, transpose_b, accumulate;
  GrapnelCudaActivation activation;
  float alpha;
} GrapnelCudaMatMul;

typedef enum GrapnelCudaWay {
  kGrapnelCudaFromHost = 0,  // has read its source when it returns
  kGrapnelCudaToHost,
  kGrapnelCudaInside,
} GrapnelCudaWay;

// Addresses are of the stream's device unless said otherwise. Functions queue their work and
// return; they give 0 when all is well, else write why into error (error_size bytes, with the final
// 0). Nothing is written where a result has no elements.
#define GRAPNEL_CUDA_ERROR char *error, int32_t error_size
typedef struct GrapnelCudaApi {
  uint32_t version;
  // Devices that there are; an error when the driver is missing or too old.
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

  // `value`, of the host, is one element of 1, 2, 4 or 8 bytes.
  int32_t (*fill)(GrapnelCudaStream* stream, void* to, int64_t count, int32_t element_size,
                  const void* value, GRAPNEL_CUDA_ERROR);
  int32_t (*cast)(GrapnelCudaStream* stream, GrapnelCudaType to_type, void* to,
                  GrapnelCudaType from_type, const void* from, int64_t count, GRAPNEL_CUDA_ERROR);
  // Elements of 1, 2, 4 or 8 bytes: strides[0] of the walk moves `from`, strides[1] moves `to`.
  // They do not overlap.
  int32_t (*copy_strided)(GrapnelCudaStream* stream, void* to, const void* from,
                          int32_t element_size, const GrapnelCudaWalk* walk, GRAPNEL_CUDA_ERROR);
  // to[outer, i, inner] = from[outer, indices[i], inner]; 0 for an index outside of [0, limit).
  int32_t (*gather)(GrapnelCudaStream* stream, void* to, const void* from, int32_t element_size,
                    GrapnelCudaType index_type, const void* indices, int64_t outer, int64_t limit,
                    int64_t count, int64_t inner, GRAPNEL_CUDA_ERROR);

  // Elementwise: float, half, bfloat16, double; binary ones and Neg, Abs, Sign, Square also int32
  // and int64. `to` may be an operand that has as many elements.
  int32_t (*unary)(GrapnelCudaStream* stream, GrapnelCudaUnary op, GrapnelCudaType type, void* to,
                   const void* from, int64_t count, float alpha, GRAPNEL_CUDA_ERROR);
  int32_t (*binary)(GrapnelCudaStream* stream, GrapnelCudaBinary op, GrapnelCudaType type, void* to,
                    const void* a, const void* b, const GrapnelCudaWalk* walk, GRAPNEL_CUDA_ERROR);
  // strides[0] of the condition, which is bool, then those of the two.
  int32_t (*select)(GrapnelCudaStream* stream, void* to, const void* condition, const void* a,
                    const void* b, int32_t element_size, const GrapnelCudaWalk* walk,
                    GRAPNEL_CUDA_ERROR);

  // Reduces the dimensions d for which bit d of `reduced` is set. float, half, bfloat16, double,
  // int32, int64. The order of additions depends on the shape alone.
  int32_t (*reduce)(GrapnelCudaStream* stream, GrapnelCudaReduction op, GrapnelCudaType type,
                    void* to, const void* from, int32_t rank, const int64_t* dims, uint32_t reduced,
                    GRAPNEL_CUDA_ERROR);

  // Floats only, from here on.
  int32_t (*softmax)(GrapnelCudaStream* stream, GrapnelCudaType type, int32_t log, void* to,
                     const void* from, int64_t rows, int64_t columns, GRAPNEL_CUDA_ERROR);
  // loss[rows], gradient[rows, columns] of softmax cross entropy. `label_type` int32 or int64: one
  // class a row, NaN where it is none; else labels are [rows, columns] of `type`. `to` may be
  // the logits.
  int32_t (*cross_entropy)(GrapnelCudaStream* stream, GrapnelCudaType type, void* loss,
                           void* gradient, const void* logits, GrapnelCudaType label_type,
                           const void* labels, int64_t rows, int64_t columns, GRAPNEL_CUDA_ERROR);
  // to[outer, channels, inner] = activation(from + bias[channels]); a null bias adds nothing.
  int32_t (*bias)(GrapnelCudaStream* stream, GrapnelCudaType type, void* to, const void* from,
                  const void* bias, int64_t outer, int64_t channels, int64_t inner,
                  GrapnelCudaActivation activation, float alpha, GRAPNEL_CUDA_ERROR);
  // The mean counts no padding. in_channels are the channels, dilation is 1.
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

  // Adds up -inf, +inf, NaN, negative, zero and positive elements in `counts`, of the host, and
  // waits for them. Any type of GrapnelCudaType.
  int32_t (*count)(GrapnelCudaStream* stream, GrapnelCudaType type, const void* from,
                   int64_t elements, int64_t counts[6], GRAPNEL_CUDA_ERROR);
} GrapnelCudaApi;

// The one exported function, by the name GRAPNEL_CUDA_ENTRY. Null when the program is of another
// version.
typedef const GrapnelCudaApi* (*GrapnelCudaEntryFn)(uint32_t version);

}  // extern "C"

#endif  // GRAPNEL_KERNELS_CUDA_CUDA_API_H_
