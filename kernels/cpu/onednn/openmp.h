// OpenMP as oneDNN sees it.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_

namespace grapnel::onednn {

// omp_set_num_threads of the runtime that runs oneDNN's loops in place of ours; null if none does.
using SetThreads = void(int);
SetThreads* OtherRuntime();

}  // namespace grapnel::onednn

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_OPENMP_H_
