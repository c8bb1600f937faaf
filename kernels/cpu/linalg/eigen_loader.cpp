#include "kernels/cpu/linalg/eigen_loader.h"

#include "lib/support/loadable_module.h"

namespace grapnel {

Expected<const EigenApi*> EigenModule() {
  static const auto opened = OpenModule<EigenApi, GrapnelEigenEntryFn>(
      {"grapnel_eigen.so", GRAPNEL_EIGEN_ENTRY, "GRAPNEL_EIGEN"}, GRAPNEL_EIGEN_API_VERSION);
  if (opened.api) return opened.api;
  return MakeError("Eigen's decompositions are not available: {0}", opened.problem);
}

}  // namespace grapnel
