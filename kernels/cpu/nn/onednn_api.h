// The C ABI between the program and grapnel_onednn.so. The module is loaded when first needed,
// because linking oneDNN would cost every start of the program more than the ten milliseconds it
// may take.
#ifndef GRAPNEL_KERNELS_CPU_NN_ONEDNN_API_H_
#define GRAPNEL_KERNELS_CPU_NN_ONEDNN_API_H_

#include <stdint.h>

#include "kernels/common/activation.h"

// Changes with any struct below.
#define GRAPNEL_ONEDNN_API_VERSION 4
#define GRAPNEL_ONEDNN_ENTRY "GrapnelOnednnEntry"

extern "C" {

// What the module asks of the program.
typedef struct GrapnelOnednnHost {
  uint32_t version;
  // Calls body(arg, i) for each i in [0, n) on the threads of `pool` that are free; returns when
  // all are done. One must not wait for another.
  void (*run_parts)(void* pool, int32_t n, void (*body)(void* arg, int32_t i), void* arg);
} GrapnelOnednnHost;

// What is applied to a result before it is stored, in this order.
typedef struct GrapnelEpilogue {
  int32_t bias;        // add a vector over the output channels (columns)
  int32_t accumulate;  // add what the destination held
  GrapnelActivation activation;
  float alpha;  // of kGrapnelLeakyRelu
} GrapnelEpilogue;

// A float convolution over 1 to 3 spatial dimensions. The filter is [spatial..., in_channels /
// groups, out_channels], row-major, which for a depthwise convolution is TensorFlow's [spatial...,
// in_channels, multiplier] too.
typedef struct GrapnelConvSpec {
  int32_t spatial_rank;
  int32_t channels_last;
  int64_t batch, in_channels, out_channels, groups;
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad_before[3], pad_after[3];
  GrapnelEpilogue epilogue;
  int32_t constant_filter;  // it is packed once: any layout is welcome
  int32_t winograd;         // where oneDNN has code for it: fewer products, other rounding
  int32_t parts;            // into which its loops are cut, whatever the threads
} GrapnelConvSpec;

// c[batch, m, n] = a[batch, m, k] * b[batch, k, n], float and row-major. A transposed operand lies
// as [.., k, m] or [.., n, k]. A batch of 1 is used for all. Strides are the distances between rows
// as they lie in memory; of a batch of several, matrices lie densely.
typedef struct GrapnelMatMulSpec {
  int64_t a_batch, b_batch, m, n, k;
  int64_t a_stride, b_stride, c_stride;
  int32_t transpose_a, transpose_b;
  GrapnelEpilogue epilogue;
  int32_t constant_b;
  int32_t parts;  // into which its loops are cut, whatever the threads
} GrapnelMatMulSpec;

typedef struct GrapnelPrimitive GrapnelPrimitive;

typedef struct GrapnelArgs {
  const void* source;   // input or a
  const void* weights;  // filter or b; of a spec that says they are constant, as pack() gives them
  const void* bias;     // when the epilogue has one
  void* destination;
  void* scratch;  // scratch_bytes(), at a multiple of 64
  void* pool;     // for run_parts
} GrapnelArgs;

// Functions that can fail return 0 when all is well, else write why into error (error_size bytes,
// with the final 0).
typedef struct GrapnelOnednnApi {
  uint32_t version;
  int32_t (*make_conv)(const GrapnelConvSpec* spec, GrapnelPrimitive** made, char* error,
                       int32_t error_size);
  int32_t (*make_matmul)(const GrapnelMatMulSpec* spec, GrapnelPrimitive** made, char* error,
                         int32_t error_size);
  // Sizes of the weights in the primitive's own layout, and of what a run needs beside its tensors.
  uint64_t (*packed_bytes)(const GrapnelPrimitive*);
  uint64_t (*scratch_bytes)(const GrapnelPrimitive*);
  // Copies constant weights into the primitive's own layout, or back, bit for bit. What is not
  // packed may lie anywhere.
  int32_t (*pack)(const GrapnelPrimitive*, const void* from, void* to, void* pool, char* error,
                  int32_t error_size);
  int32_t (*unpack)(const GrapnelPrimitive*, const void* from, void* to, void* pool, char* error,
                    int32_t error_size);
  // Whether the layouts of both are the same.
  int32_t (*packs_alike)(const GrapnelPrimitive*, const GrapnelPrimitive*);
  // Several threads may run one primitive at once, each with its own arguments.
  int32_t (*run)(GrapnelPrimitive*, const GrapnelArgs* args, char* error, int32_t error_size);
  // oneDNN's name of what it chose, "brgconv:avx512_core" say. Lives as long as the primitive.
  const char* (*implementation)(const GrapnelPrimitive*);
  void (*destroy)(GrapnelPrimitive*);
} GrapnelOnednnApi;

// The one exported function, by the name GRAPNEL_ONEDNN_ENTRY. Null when the host is of another
// version. `host` must outlive all use.
typedef const GrapnelOnednnApi* (*GrapnelOnednnEntryFn)(const GrapnelOnednnHost* host);

}  // extern "C"

#endif  // GRAPNEL_KERNELS_CPU_NN_ONEDNN_API_H_
