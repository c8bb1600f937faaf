// Matrix products through cuBLASLt, with bias and activation in its epilogue where cuBLASLt
// supports them. Full precision: float is multiplied as float, not as TF32.
//
// cuBLASLt is column-major: it reads a row-major [m, n] as an n x m matrix, so the operands are
// swapped and the bias runs along its rows, as its epilogue requires.
#include <algorithm>
#include <cstring>

#include "kernels/cuda/stream.h"

namespace grapnel::cuda {
inline namespace matmul_cu {

constexpr size_t kWorkspace = size_t{32} << 20;  // NVIDIA's recommendation for Hopper

template <typename T, cublasStatus_t (*kDestroy)(T)>
struct Handle {
  T value = nullptr;
  Handle() = default;
  Handle(const Handle&) = delete;
  ~Handle() {
    if (value) kDestroy(value);
  }
};
using Operation = Handle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Handle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Handle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

Types TypesFor(GrapnelCudaType type) {
  switch (type) {
    case kGrapnelCudaFloat:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kGrapnelCudaDouble:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kGrapnelCudaHalf:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kGrapnelCudaBfloat16:
      return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    default:
      throw Failure("a product of dtype " + std::to_string(type) +
                    ": float, double, half or bfloat16 was expected");
  }
}

template <typename T>
void Set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  Check(cublasLtMatmulDescSetAttribute(operation.value, attribute, &value, sizeof value),
        "describing a product");
}

// Describes a matrix to cuBLASLt; the matrices of a batch are `stride` elements apart.
void SetLayout(Layout& layout, cudaDataType_t type, int64_t rows, int64_t columns, int64_t batch,
               int64_t stride) {
  Check(cublasLtMatrixLayoutCreate(&layout.value, type, rows, columns, rows),
        "describing a matrix");
  auto count = static_cast<int32_t>(batch);
  if (batch == 1) return;
  Check(cublasLtMatrixLayoutSetAttribute(layout.value, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                         sizeof count),
        "describing a batch");
  Check(cublasLtMatrixLayoutSetAttribute(layout.value, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                         &stride, sizeof stride),
        "describing a batch");
}

// Returns the epilogue that cuBLASLt supports for the product; Bias() does the rest. With an
// addend, only a separate pass applies the activation after the sum; double has no epilogues.
cublasLtEpilogue_t EpilogueFor(const GrapnelCudaMatMul& spec, bool has_bias) {
  if (spec.type == kGrapnelCudaDouble || spec.accumulate) return CUBLASLT_EPILOGUE_DEFAULT;
  switch (spec.activation) {
    case kGrapnelCudaLinear:
      return has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case kGrapnelCudaFusedRelu:
      return has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case kGrapnelCudaFusedGeluApproximate:
      return has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return CUBLASLT_EPILOGUE_DEFAULT;
  }
}

uint32_t AlignmentOf(std::initializer_list<const void*> addresses) {
  uintptr_t bits = 256;  // cuBLASLt's default assumption
  for (const void* address : addresses) bits |= reinterpret_cast<uintptr_t>(address);
  return static_cast<uint32_t>(bits & (~bits + 1));
}

const cublasLtMatmulAlgo_t& Choose(GrapnelCudaStream* stream, const GrapnelCudaMatMul& spec,
                                   bool has_bias, uint32_t alignment, const Operation& operation,
                                   const Layout& a, const Layout& b, const Layout& d) {
  MatMulChoice wanted;
  std::memset(static_cast<void*>(&wanted), 0, sizeof wanted);
  wanted.spec = spec;
  wanted.alignment = static_cast<int32_t>(alignment);
  wanted.has_bias = has_bias;
  constexpr size_t kKey = offsetof(MatMulChoice, algorithm);
  for (const MatMulChoice& choice : stream->choices) {
    if (std::memcmp(&choice, &wanted, kKey) == 0) return choice.algorithm;
  }
  Preference preference;
  Check(cublasLtMatmulPreferenceCreate(&preference.value), "choosing an algorithm");
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    Check(cublasLtMatmulPreferenceSetAttribute(preference.value, attribute, &value, sizeof value),
          "choosing an algorithm");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
  for (auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    prefer(attribute, alignment);
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  Check(cublasLtMatmulAlgoGetHeuristic(stream->cublas, operation.value, a.value, b.value, d.value,
                                       d.value, preference.value, 1, &result, &found),
        "choosing an algorithm");
  if (found == 0) throw Failure("cuBLASLt has no algorithm for this product");
  wanted.algorithm = result.algo;
  constexpr size_t kMost = 256;
  if (stream->choices.size() == kMost) stream->choices.clear();
  stream->choices.push_back(wanted);
  return stream->choices.back().algorithm;
}

void Multiply(GrapnelCudaStream* stream, const GrapnelCudaMatMul& spec, void* to, const void* a,
              const void* b, const void* bias, cublasLtEpilogue_t epilogue) {
  Types types = TypesFor(spec.type);
  if (!stream->cublas) Check(cublasLtCreate(&stream->cublas), "starting cuBLASLt");
  Operation operation;
  Check(cublasLtMatmulDescCreate(&operation.value, types.compute, types.scale),
        "describing a product");
  Set(operation, CUBLASLT_MATMUL_DESC_TRANSA, spec.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  Set(operation, CUBLASLT_MATMUL_DESC_TRANSB, spec.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  Set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  bool bias_inside = epilogue == CUBLASLT_EPILOGUE_BIAS ||
                     epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
                     epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  if (bias_inside) Set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  int64_t batch = std::max(spec.a_batch, spec.b_batch);
  Layout left, right, result;
  SetLayout(left, types.data, spec.transpose_b ? spec.k : spec.n,
            spec.transpose_b ? spec.n : spec.k, batch, spec.b_batch == 1 ? 0 : spec.k * spec.n);
  SetLayout(right, types.data, spec.transpose_a ? spec.m : spec.k,
            spec.transpose_a ? spec.k : spec.m, batch, spec.a_batch == 1 ? 0 : spec.m * spec.k);
  SetLayout(result, types.data, spec.n, spec.m, batch, spec.m * spec.n);
  uint32_t alignment = AlignmentOf({to, a, b, bias_inside ? bias : nullptr});
  const cublasLtMatmulAlgo_t& algorithm =
      Choose(stream, spec, bias_inside, alignment, operation, left, right, result);
  float one = 1, addend = spec.accumulate ? 1.0f : 0.0f;
  double wide_one = 1, wide_addend = addend;
  bool wide = types.scale == CUDA_R_64F;
  const void* alpha = wide ? static_cast<const void*>(&wide_one) : &one;
  const void* beta = wide ? static_cast<const void*>(&wide_addend) : &addend;
  Check(cublasLtMatmul(stream->cublas, operation.value, alpha, b, left.value, a, right.value, beta,
                       to, result.value, to, result.value, &algorithm,
                       stream->Workspace(kWorkspace), kWorkspace, stream->stream),
        "a product");
}

}  // namespace matmul_cu

int32_t MatMul(GrapnelCudaStream* stream, const GrapnelCudaMatMul* spec, void* to, const void* a,
               const void* b, const void* bias, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int64_t batch = std::max(spec->a_batch, spec->b_batch);
    if (batch == 0 || spec->m == 0 || spec->n == 0) return;
    stream->Use();
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    if (spec->k > 0) {
      epilogue = EpilogueFor(*spec, bias != nullptr);
      Multiply(stream, *spec, to, a, b, bias, epilogue);
    } else if (!spec->accumulate) {
      Check(cudaMemsetAsync(to, 0, batch * spec->m * spec->n * SizeOf(spec->type), stream->stream),
            "an empty product");
    }
    bool is_left = bias || spec->activation != kGrapnelCudaLinear;
    if (!is_left || epilogue != CUBLASLT_EPILOGUE_DEFAULT) return;
    char why[256];
    if (Bias(stream, spec->type, to, to, bias, batch * spec->m, spec->n, 1, spec->activation,
             spec->alpha, why, sizeof why) != 0)
      throw Failure(why);
  });
}

}  // namespace grapnel::cuda
