// Sums, means, extremes and products over any dimensions. A block computes whole results; for few
// long results, several blocks first compute parts of each. The order of additions depends only on
// the shape.
#include "kernels/cuda/reduce.cuh"

namespace grapnel::cuda {
inline namespace reduce_cu {

// Merges neighboring dimensions that are both kept or both reduced.
ReducePlan MakePlan(int32_t rank, const int64_t* dims, uint32_t reduced) {
  ReducePlan plan{};
  plan.results = plan.length = 1;
  std::vector<int64_t> strides(rank);
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= dims[d];
  }
  bool last = false;
  for (int d = 0; d < rank; ++d) {
    bool is_reduced = reduced >> d & 1, goes_on = d > 0 && is_reduced == last;
    last = is_reduced;
    (is_reduced ? plan.length : plan.results) *= dims[d];
    GrapnelCudaWalk& walk = is_reduced ? plan.reduced : plan.kept;
    if (goes_on) {
      walk.sizes[walk.rank - 1] *= dims[d];
      walk.strides[0][walk.rank - 1] = strides[d];
      continue;
    }
    if (walk.rank == GRAPNEL_CUDA_MAX_RANK) throw Failure("too many dimensions to reduce");
    walk.sizes[walk.rank] = dims[d];
    walk.strides[0][walk.rank++] = strides[d];
  }
  return plan;
}

}  // namespace reduce_cu

GRAPNEL_REDUCE_OF(int32_t);
GRAPNEL_REDUCE_OF(int64_t);
GRAPNEL_REDUCE_OF(float);
GRAPNEL_REDUCE_OF(double);

int32_t Reduce(GrapnelCudaStream* stream, GrapnelCudaReduction op, GrapnelCudaType type, void* to,
               const void* from, int32_t rank, const int64_t* dims, uint32_t reduced,
               GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    ReducePlan plan = MakePlan(rank, dims, reduced);
    if (plan.results == 0) return;
    stream->Use();
    ForNumbers(type,
               [&](auto of) { ReduceOf<typename decltype(of)::Type>(op, stream, to, from, plan); });
    CheckLaunch();
  });
}

}  // namespace grapnel::cuda
