// Elementwise ops with one operand.
#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {
inline namespace elementwise_unary_cu {

template <GrapnelCudaUnary kOp, typename C>
__device__ C Apply(C x, C alpha) {
  constexpr C kOne = 1, kZero = 0;
  if constexpr (kOp == kGrapnelCudaNeg) return -x;
  if constexpr (kOp == kGrapnelCudaAbs) return x < kZero ? -x : (x == kZero ? kZero : x);
  if constexpr (kOp == kGrapnelCudaSign) return x > kZero ? kOne : x < kZero ? C(-1) : x;
  if constexpr (kOp == kGrapnelCudaSquare) return x * x;
  if constexpr (kOp == kGrapnelCudaSqrt) return sqrt(x);
  if constexpr (kOp == kGrapnelCudaRsqrt) return kOne / sqrt(x);
  if constexpr (kOp == kGrapnelCudaReciprocal) return kOne / x;
  if constexpr (kOp == kGrapnelCudaExp) return exp(x);
  if constexpr (kOp == kGrapnelCudaExpm1) return expm1(x);
  if constexpr (kOp == kGrapnelCudaLog) return log(x);
  if constexpr (kOp == kGrapnelCudaLog1p) return log1p(x);
  if constexpr (kOp == kGrapnelCudaTanh) return tanh(x);
  if constexpr (kOp == kGrapnelCudaSigmoid) return kOne / (kOne + exp(-x));
  if constexpr (kOp == kGrapnelCudaRelu) return x < kZero ? kZero : x;
  if constexpr (kOp == kGrapnelCudaRelu6) return x < kZero ? kZero : x > C(6) ? C(6) : x;
  if constexpr (kOp == kGrapnelCudaElu) return x < kZero ? expm1(x) : x;
  if constexpr (kOp == kGrapnelCudaLeakyRelu) return x > kZero ? x : x * alpha;
  if constexpr (kOp == kGrapnelCudaSoftplus)
    return (x > kZero ? x : kZero) + log1p(exp(x > kZero ? -x : x));
  if constexpr (kOp == kGrapnelCudaSoftsign) return x / (kOne + (x < kZero ? -x : x));
  if constexpr (kOp == kGrapnelCudaErf) return erf(x);
  if constexpr (kOp == kGrapnelCudaErfc) return erfc(x);
  if constexpr (kOp == kGrapnelCudaFloor) return floor(x);
  if constexpr (kOp == kGrapnelCudaCeil) return ceil(x);
  if constexpr (kOp == kGrapnelCudaRint) return rint(x);
  if constexpr (kOp == kGrapnelCudaSin) return sin(x);
  if constexpr (kOp == kGrapnelCudaCos) return cos(x);
}

template <GrapnelCudaUnary kOp, typename T>
__global__ void UnaryKernel(T* to, const T* from, int64_t count, Compute<T> alpha) {
  for (int64_t i = FirstIndex(); i < count; i += IndexStep())
    to[i] = Store<T>(Apply<kOp, Compute<T>>(Load(from[i]), alpha));
}

template <GrapnelCudaUnary kOp, typename T>
void Launch(GrapnelCudaStream* stream, void* to, const void* from, int64_t count, float alpha) {
  UnaryKernel<kOp, T><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
      static_cast<T*>(to), static_cast<const T*>(from), count, static_cast<Compute<T>>(alpha));
}

constexpr bool TakesIntegers(int op) {
  return op == kGrapnelCudaNeg || op == kGrapnelCudaAbs || op == kGrapnelCudaSign ||
         op == kGrapnelCudaSquare;
}

// Finds `op` among the ops from kOp on, and runs it.
template <int kOp>
void Dispatch(int op, GrapnelCudaStream* stream, GrapnelCudaType type, void* to, const void* from,
              int64_t count, float alpha) {
  if constexpr (kOp == kGrapnelCudaUnaryCount) {
    throw Failure("there is no elementwise op " + std::to_string(op));
  } else {
    if (op != kOp) return Dispatch<kOp + 1>(op, stream, type, to, from, count, alpha);
    auto launch = [&](auto of) {
      Launch<static_cast<GrapnelCudaUnary>(kOp), typename decltype(of)::Type>(stream, to, from,
                                                                              count, alpha);
    };
    if constexpr (TakesIntegers(kOp)) {
      ForNumbers(type, launch);
    } else {
      ForFloats(type, launch);
    }
  }
}

}  // namespace elementwise_unary_cu

int32_t Unary(GrapnelCudaStream* stream, GrapnelCudaUnary op, GrapnelCudaType type, void* to,
              const void* from, int64_t count, float alpha, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    if (count == 0) return;
    stream->Use();
    Dispatch<0>(op, stream, type, to, from, count, alpha);
    CheckLaunch();
  });
}

}  // namespace grapnel::cuda
