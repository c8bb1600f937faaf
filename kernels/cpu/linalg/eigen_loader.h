// Opens grapnel_eigen.so.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_LOADER_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_LOADER_H_

#include "kernels/cpu/linalg/eigen_api.h"
#include "lib/support/error.h"

namespace grapnel {

// Returns the module, which the first call opens: the file in GRAPNEL_EIGEN, else grapnel_eigen.so
// (ModulePath). Thread-safe.
Expected<const EigenApi*> EigenModule();

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_LOADER_H_
