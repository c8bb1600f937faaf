// Bessel functions of order 0 and 1, by Eigen.
#include "kernels/cpu/math/elementwise_unary.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace grapnel {
namespace {

#define GRAPNEL_BESSEL_KERNEL(name, function) \
  struct name##Op {                           \
    using Types = FloatTypes;                 \
    static constexpr double kCost = 20;       \
    template <typename T>                     \
    static T Run(T x) {                       \
      return Eigen::numext::function(x);      \
    }                                         \
  };                                          \
  GRAPNEL_UNARY_KERNEL(#name, "T", name##Op)

GRAPNEL_BESSEL_KERNEL(BesselI0, bessel_i0);
GRAPNEL_BESSEL_KERNEL(BesselI0e, bessel_i0e);
GRAPNEL_BESSEL_KERNEL(BesselI1, bessel_i1);
GRAPNEL_BESSEL_KERNEL(BesselI1e, bessel_i1e);
GRAPNEL_BESSEL_KERNEL(BesselJ0, bessel_j0);
GRAPNEL_BESSEL_KERNEL(BesselJ1, bessel_j1);
GRAPNEL_BESSEL_KERNEL(BesselK0, bessel_k0);
GRAPNEL_BESSEL_KERNEL(BesselK0e, bessel_k0e);
GRAPNEL_BESSEL_KERNEL(BesselK1, bessel_k1);
GRAPNEL_BESSEL_KERNEL(BesselK1e, bessel_k1e);
GRAPNEL_BESSEL_KERNEL(BesselY0, bessel_y0);
GRAPNEL_BESSEL_KERNEL(BesselY1, bessel_y1);

}  // namespace
}  // namespace grapnel
