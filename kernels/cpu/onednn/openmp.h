// OpenMP as oneDNN sees it.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_

#include "kernels/cpu/onednn/thread_pool_adapter.h"

namespace grapnel::onednn {

// The runtime that runs oneDNN's loops in place of ours; of null functions if none does.
ForeignThreads OtherRuntime();

}  // namespace grapnel::onednn

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_
