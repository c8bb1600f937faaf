// The incomplete gamma and beta functions, their derivatives, zeta and polygamma, by Eigen.
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cpu/math/elementwise_binary.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace grapnel {
namespace {

using SpecialTypes = TypeList<float, double>;

#define GRAPNEL_GAMMA_KERNEL(name, function, cost) \
  struct name##Op {                                \
    using Types = SpecialTypes;                    \
    static constexpr double kCost = cost;          \
    template <typename T>                          \
    static T Run(T a, T x) {                       \
      return Eigen::numext::function(a, x);        \
    }                                              \
  };                                               \
  GRAPNEL_BINARY_KERNEL(#name, name##Op)

GRAPNEL_GAMMA_KERNEL(Igamma, igamma, 100);
GRAPNEL_GAMMA_KERNEL(Igammac, igammac, 100);
GRAPNEL_GAMMA_KERNEL(IgammaGradA, igamma_der_a, 200);
GRAPNEL_GAMMA_KERNEL(RandomGammaGrad, gamma_sample_der_alpha, 200);

// True if zeta(x, q) is infinite for an x of at least 2^53: an integer q of at most 0 makes the
// divisor of a term 0, and x is even, as all numbers of this size are. Eigen would cast x to 64
// bits to check that.
template <typename T>
bool IsPoleOfLargeZeta(T x, T q) {
  return x >= T(int64_t{1} << 53) && q <= T(0) && q == std::floor(q);
}

struct ZetaOp {
  using Types = SpecialTypes;
  static constexpr double kCost = 100;
  template <typename T>
  static T Run(T x, T q) {
    if (IsPoleOfLargeZeta(x, q)) return std::numeric_limits<T>::infinity();
    T sum = Eigen::numext::zeta(x, q);
    // Eigen divides 0 by 0 when all terms underflow.
    bool is_too_small = std::isnan(sum) && x > 1 && q > 0 && std::isfinite(x) && std::isfinite(q);
    return is_too_small ? T(0) : sum;
  }
};
GRAPNEL_BINARY_KERNEL("Zeta", ZetaOp);

struct PolygammaOp {
  using Types = SpecialTypes;
  static constexpr double kCost = 100;
  template <typename T>
  static T Run(T n, T x) {
    if (IsPoleOfLargeZeta(n, x)) return std::numeric_limits<T>::infinity();
    return Eigen::numext::polygamma(n, x);
  }
};
GRAPNEL_BINARY_KERNEL("Polygamma", PolygammaOp);

// Betainc(a, b, x): shapes must be equal or scalar.
Error Betainc(KernelContext& ctx) {
  std::array<llvm::ArrayRef<int64_t>, 3> shapes;
  llvm::ArrayRef<int64_t> dims;
  for (int i = 0; i < 3; ++i) {
    shapes[i] = ctx.input(i).dims();
    if (shapes[i].empty()) continue;
    if (!dims.empty() && dims != shapes[i])
      return MakeError(
          "inputs that are not scalars must have the same shape, got shapes {0}, {1} and {2}",
          DimsText(ctx.input(0).dims()), DimsText(ctx.input(1).dims()),
          DimsText(ctx.input(2).dims()));
    dims = shapes[i];
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  bool known = ForType(out->dtype(), SpecialTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *a = ctx.input(0).data<T>(), *b = ctx.input(1).data<T>(), *x = ctx.input(2).data<T>();
    ctx.ParallelFor(out->num_elements(), 200, [&](int64_t begin, int64_t end) {
      auto step = [&](int i, int64_t at) { return shapes[i].empty() ? 0 : at; };
      for (int64_t i = begin; i < end; ++i)
        out->data<T>()[i] = Eigen::numext::betainc(a[step(0, i)], b[step(1, i)], x[step(2, i)]);
    });
    return true;
  });
  return known ? Error::success()
               : MakeError("no kernel for dtype {0}", DataTypeName(out->dtype()));
}
Expected<KernelFn> MakeBetainc(const KernelSetup&) { return KernelFn(Betainc); }

GRAPNEL_CPU_KERNEL("Betainc", MakeBetainc, OfTypes("T", DataTypesOf(SpecialTypes())));

}  // namespace
}  // namespace grapnel
