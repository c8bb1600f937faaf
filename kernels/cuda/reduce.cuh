// The reduction kernels. The 16-bit floats, which compute in float, compile in a separate file.
#ifndef GRAPNEL_KERNELS_CUDA_REDUCE_CUH_
#define GRAPNEL_KERNELS_CUDA_REDUCE_CUH_

#include <algorithm>
#include <limits>

#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {

// The result of a reduction over no elements, except for the mean.
template <GrapnelCudaReduction kOp, typename C>
constexpr C kStart = kOp == kGrapnelCudaProd ? C(1)
                     : kOp == kGrapnelCudaMax
                         ? (std::is_integral_v<C> ? std::numeric_limits<C>::lowest()
                                                  : -std::numeric_limits<C>::infinity())
                     : kOp == kGrapnelCudaMin
                         ? (std::is_integral_v<C> ? std::numeric_limits<C>::max()
                                                  : std::numeric_limits<C>::infinity())
                         : C(0);

template <GrapnelCudaReduction kOp, typename C>
__device__ C MergeBy(C a, C b) {
  if constexpr (kOp == kGrapnelCudaProd) return a * b;
  if constexpr (kOp == kGrapnelCudaMax) return a > b || a != a ? a : b;
  if constexpr (kOp == kGrapnelCudaMin) return a < b || a != a ? a : b;
  return a + b;
}

// Two walks: over the results (operand 0 is the offset of a result's first element) and over the
// elements of one result.
struct ReducePlan {
  GrapnelCudaWalk kept, reduced;
  int64_t results, length;
};

// Block (x, y) reduces part y of the results x, x + gridDim.x, and so on. If a result has several
// parts, each partial result is stored without dividing a mean.
template <GrapnelCudaReduction kOp, typename T, typename In, typename Out>
__global__ void ReduceKernel(Out* to, const In* from, ReducePlan plan, int64_t divisor) {
  using C = Compute<T>;
  __shared__ C shared[kThreads];
  auto merge = [](C a, C b) { return MergeBy<kOp>(a, b); };
  int64_t part = (plan.length + gridDim.y - 1) / gridDim.y;
  int64_t begin = part * blockIdx.y, end = begin + part;
  if (end > plan.length) end = plan.length;
  for (int64_t result = blockIdx.x; result < plan.results; result += gridDim.x) {
    int64_t base[1], at[1];
    OffsetsAt(plan.kept, result, base);
    C value = kStart<kOp, C>;
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      OffsetsAt(plan.reduced, i, at);
      value = merge(value, Load(from[base[0] + at[0]]));
    }
    value = BlockMerge(value, shared, merge);
    if (threadIdx.x > 0) continue;
    if (kOp == kGrapnelCudaMean && gridDim.y == 1) value = value / static_cast<C>(divisor);
    to[result * gridDim.y + blockIdx.y] = Store<Out>(value);
  }
}

template <GrapnelCudaReduction kOp, typename T>
__global__ void EmptyKernel(T* to, int64_t results) {
  using C = Compute<T>;
  C value = kStart<kOp, C>;
  // The mean of no elements is 0 / 0.
  if constexpr (kOp == kGrapnelCudaMean && !std::is_integral_v<C>) value = kNan<C>;
  for (int64_t i = FirstIndex(); i < results; i += IndexStep()) to[i] = Store<T>(value);
}

template <GrapnelCudaReduction kOp, typename T>
void LaunchReduce(GrapnelCudaStream* stream, void* to, const void* from, const ReducePlan& plan) {
  using C = Compute<T>;
  auto* out = static_cast<T*>(to);
  if (plan.length == 0) {
    EmptyKernel<kOp, T>
        <<<BlocksFor(plan.results), kThreads, 0, stream->stream>>>(out, plan.results);
    return;
  }
  constexpr int64_t kEnoughBlocks = 512, kWorthAPart = 4096, kMostParts = 256,
                    kMostBlocks = 1 << 15;
  int64_t parts = 1;
  if (plan.results < kEnoughBlocks) {
    parts = std::min(std::min(plan.length / kWorthAPart, kMostParts), kEnoughBlocks / plan.results);
    parts = std::max<int64_t>(parts, 1);
  }
  dim3 grid(static_cast<unsigned>(std::min(plan.results, kMostBlocks)),
            static_cast<unsigned>(parts));
  const auto* in = static_cast<const T*>(from);
  if (parts == 1) {
    ReduceKernel<kOp, T, T, T><<<grid, kThreads, 0, stream->stream>>>(out, in, plan, plan.length);
    return;
  }
  auto* middle = static_cast<C*>(stream->Workspace(plan.results * parts * sizeof(C)));
  ReduceKernel<kOp, T, T, C><<<grid, kThreads, 0, stream->stream>>>(middle, in, plan, plan.length);
  ReducePlan last{};
  last.results = plan.results;
  last.length = parts;
  last.kept.rank = last.reduced.rank = 1;
  last.kept.sizes[0] = plan.results;
  last.kept.strides[0][0] = parts;
  last.reduced.sizes[0] = parts;
  last.reduced.strides[0][0] = 1;
  ReduceKernel<kOp, T, C, T>
      <<<dim3(grid.x, 1), kThreads, 0, stream->stream>>>(out, middle, last, plan.length);
}

template <typename T>
void ReduceOf(GrapnelCudaReduction op, GrapnelCudaStream* stream, void* to, const void* from,
              const ReducePlan& plan) {
  switch (op) {
    case kGrapnelCudaSum:
      return LaunchReduce<kGrapnelCudaSum, T>(stream, to, from, plan);
    case kGrapnelCudaMean:
      return LaunchReduce<kGrapnelCudaMean, T>(stream, to, from, plan);
    case kGrapnelCudaMax:
      return LaunchReduce<kGrapnelCudaMax, T>(stream, to, from, plan);
    case kGrapnelCudaMin:
      return LaunchReduce<kGrapnelCudaMin, T>(stream, to, from, plan);
    case kGrapnelCudaProd:
      return LaunchReduce<kGrapnelCudaProd, T>(stream, to, from, plan);
  }
  throw Failure("there is no reduction " + std::to_string(op));
}

#define GRAPNEL_REDUCE_OF(T)                                                              \
  template void ReduceOf<T>(GrapnelCudaReduction, GrapnelCudaStream*, void*, const void*, \
                            const ReducePlan&)
extern GRAPNEL_REDUCE_OF(int32_t);
extern GRAPNEL_REDUCE_OF(int64_t);
extern GRAPNEL_REDUCE_OF(float);
extern GRAPNEL_REDUCE_OF(double);
extern GRAPNEL_REDUCE_OF(__half);
extern GRAPNEL_REDUCE_OF(__nv_bfloat16);

}  // namespace grapnel::cuda

#endif  // GRAPNEL_KERNELS_CUDA_REDUCE_CUH_
