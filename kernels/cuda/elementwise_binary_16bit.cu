#include "kernels/cuda/elementwise_binary.cuh"

namespace grapnel::cuda {

GRAPNEL_BINARY_OF(__half);
GRAPNEL_BINARY_OF(__nv_bfloat16);

}  // namespace grapnel::cuda
