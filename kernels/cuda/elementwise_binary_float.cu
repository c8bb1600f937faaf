#include "kernels/cuda/elementwise_binary.cuh"

namespace grapnel::cuda {

GRAPNEL_BINARY_OF(float);
GRAPNEL_BINARY_OF(double);

}  // namespace grapnel::cuda
