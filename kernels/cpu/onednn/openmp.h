// The OpenMP runtime that oneDNN calls.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_

#include "kernels/cpu/onednn/thread_pool_adapter.h"

namespace grapnel::onednn {

// Returns the OpenMP runtime of the process that runs oneDNN's loops in place of ours; its
// functions are null if there is no other.
ForeignThreads OtherRuntime();

}  // namespace grapnel::onednn

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_
