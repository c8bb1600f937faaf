// The C ABI between the program and grapnel_onednn.so. The module is loaded on demand, because a
// program linked with oneDNN would need more than the ten milliseconds that a start may take.
#ifndef GRAPNEL_KERNELS_COMMON_ONEDNN_API_H_
#define GRAPNEL_KERNELS_COMMON_ONEDNN_API_H_

#include <stdint.h>

#include "kernels/common/activation.h"

// Increment when any struct below changes.
#define GRAPNEL_ONEDNN_API_VERSION 4
#define GRAPNEL_ONEDNN_ENTRY "GrapnelOnednnEntry"

extern "C" {

// The functions that the program provides to the module.
typedef struct GrapnelOnednnHost {
  uint32_t version;
  // Calls body(arg, i) for each i in [0, n) on the free threads of `pool` and returns when all
  // calls are done. No call may wait for another.
  void (*run_parts)(void* pool, int32_t n, void (*body)(void* arg, int32_t i), void* arg);
} GrapnelOnednnHost;

// The operations applied to a result before it is stored, in this order.
typedef struct GrapnelEpilogue {
  int32_t bias;        // add a vector over the output channels (columns)
  int32_t accumulate;  // add the old contents of the destination
  GrapnelActivation activation;
  float alpha;  // of kGrapnelLeakyRelu
} GrapnelEpilogue;

// A float convolution over 1 to 3 spatial dimensions. The filter is row-major [spatial...,
// in_channels / groups, out_channels]; for a depthwise convolution that is TensorFlow's
// [spatial..., in_channels, multiplier].
typedef struct GrapnelConvSpec {
  int32_t spatial_rank;
  int32_t channels_last;
  int64_t batch, in_channels, out_channels, groups;
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad_before[3], pad_after[3];
  GrapnelEpilogue epilogue;
  int32_t constant_filter;  // packed once, so any layout may be chosen
  int32_t winograd;         // allow it where oneDNN has it: fewer products, different rounding
  int32_t parts;            // number of parts to split its loops into, regardless of the threads
} GrapnelConvSpec;

// c[batch, m, n] = a[batch, m, k] * b[batch, k, n], float and row-major. A transposed operand is
// stored as [.., k, m] or [.., n, k]. A batch of 1 is broadcast. Strides are distances between
// stored rows; with a batch of several, matrices must be dense.
typedef struct GrapnelMatMulSpec {
  int64_t a_batch, b_batch, m, n, k;
  int64_t a_stride, b_stride, c_stride;
  int32_t transpose_a, transpose_b;
  GrapnelEpilogue epilogue;
  int32_t constant_b;
  int32_t parts;  // number of parts to split its loops into, regardless of the threads
} GrapnelMatMulSpec;

typedef struct GrapnelPrimitive GrapnelPrimitive;

typedef struct GrapnelArgs {
  const void* source;   // input or a
  const void* weights;  // filter or b; if constant in the spec, as packed by pack()
  const void* bias;     // when the epilogue has one
  void* destination;
  void* scratch;  // scratch_bytes(), aligned to 64
  void* pool;     // for run_parts
} GrapnelArgs;

// Functions that can fail return 0 on success; otherwise they write the reason into `error`
// (error_size bytes, including the final 0).
typedef struct GrapnelOnednnApi {
  uint32_t version;
  int32_t (*make_conv)(const GrapnelConvSpec* spec, GrapnelPrimitive** made, char* error,
                       int32_t error_size);
  int32_t (*make_matmul)(const GrapnelMatMulSpec* spec, GrapnelPrimitive** made, char* error,
                         int32_t error_size);
  // The size of the weights in the primitive's own layout, and of the scratch memory of a run.
  uint64_t (*packed_bytes)(const GrapnelPrimitive*);
  uint64_t (*scratch_bytes)(const GrapnelPrimitive*);
  // Copy constant weights into the primitive's own layout, or back, bit for bit. The unpacked
  // weights need no alignment.
  int32_t (*pack)(const GrapnelPrimitive*, const void* from, void* to, void* pool, char* error,
                  int32_t error_size);
  int32_t (*unpack)(const GrapnelPrimitive*, const void* from, void* to, void* pool, char* error,
                    int32_t error_size);
  // True if both primitives have the same packed layout.
  int32_t (*packs_alike)(const GrapnelPrimitive*, const GrapnelPrimitive*);
  // Several threads may run one primitive at once, each with its own arguments.
  int32_t (*run)(GrapnelPrimitive*, const GrapnelArgs* args, char* error, int32_t error_size);
  // oneDNN's name of the chosen implementation, such as "brgconv:avx512_core". Lives as long as the
  // primitive.
  const char* (*implementation)(const GrapnelPrimitive*);
  void (*destroy)(GrapnelPrimitive*);
} GrapnelOnednnApi;

// The one exported function, named GRAPNEL_ONEDNN_ENTRY. Returns null if the host has another
// version. `host` must outlive all use.
typedef const GrapnelOnednnApi* (*GrapnelOnednnEntryFn)(const GrapnelOnednnHost* host);

}  // extern "C"

#endif  // GRAPNEL_KERNELS_COMMON_ONEDNN_API_H_
