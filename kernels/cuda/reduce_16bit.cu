#include "kernels/cuda/reduce.cuh"

namespace grapnel::cuda {

GRAPNEL_REDUCE_OF(__half);
GRAPNEL_REDUCE_OF(__nv_bfloat16);

}  // namespace grapnel::cuda
