// The entry point of grapnel_eigen.so. Its table refers to the instantiations of the other files.
#include "kernels/cpu/linalg/eigen_api.h"

namespace grapnel {
namespace {

template <typename T>
constexpr EigenTable<T> TableOf() {
  return {EigenSelfAdjoint<T>, EigenLogDeterminant<T>, EigenSolve<T>, EigenSolveTriangle<T>,
          EigenLu<T>,          EigenDecompose<T>};
}

template <typename T>
constexpr EigenWideTable<T> WideTableOf() {
  return {TableOf<T>(), EigenSvd<T>, EigenQr<T>, EigenCholesky<T>};
}

constexpr EigenApi kApi = {TableOf<float>(), TableOf<std::complex<float>>(), WideTableOf<double>(),
                           WideTableOf<std::complex<double>>(), EigenSchur};

}  // namespace
}  // namespace grapnel

extern "C" __attribute__((visibility("default"))) const grapnel::EigenApi* GrapnelEigenEntry(
    uint32_t version) {
  return version == GRAPNEL_EIGEN_API_VERSION ? &grapnel::kApi : nullptr;
}
