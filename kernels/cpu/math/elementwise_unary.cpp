// Signs, roots, rounding, predicates, parts of complex numbers.
#include "kernels/cpu/math/elementwise_unary.h"

#include <cmath>
#include <limits>

#include "lib/exec/element_loop.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace grapnel {

Error RunUnary(KernelContext& ctx, UnaryLoop loop, double cost) {
  const Tensor& in = ctx.input(0);
  size_t in_size = DataTypeSize(in.dtype()), out_size = DataTypeSize(ctx.output_type(0));
  Tensor* out;
  if (in_size == out_size) {
    ASSIGN_OR_RETURN(out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  } else {
    ASSIGN_OR_RETURN(out, ctx.Allocate(0, in.dims()));
  }
  const char* from = static_cast<const char*>(in.raw());
  char* to = static_cast<char*>(out->raw());
  int64_t n = in.num_elements(), lanes = (n + kSmallFloatLanes - 1) / kSmallFloatLanes;
  ForElements(ctx, *out, lanes, kSmallFloatLanes, cost * kSmallFloatLanes,
              [&](int64_t begin, int64_t end) {
                begin *= kSmallFloatLanes;
                end = std::min(n, end * kSmallFloatLanes);
                loop(from + begin * in_size, to + begin * out_size, end - begin);
              });
  return Error::success();
}

namespace {

using SignedNumberTypes = Join<FloatOrComplexTypes, SignedTypes>;

struct NegOp {
  using Types = NumberTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_integral_v<T>)
      return SubOf(T(0), x);
    else
      return -x;
  }
};
struct AbsOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return x < 0 ? SubOf(T(0), x) : x;
    else
      return std::abs(x);
  }
};
struct SignOp {
  using Types = SignedNumberTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T x) {
    if constexpr (kIsComplex<T>) {
      return x == T(0) ? T(0) : x / std::abs(x);
    } else {
      T sign = static_cast<T>(T(x > T(0)) - T(x < T(0)));
      return x != x ? x : sign;
    }
  }
};
struct SquareOp {
  using Types = NumberTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static T Run(T x) {
    return MulOf(x, x);
  }
};
// SqrtOp and RsqrtOp are written out: Eigen's vectorized float square root is an estimate with one
// refinement and gives NaN for infinity, and std::sqrt sets errno, which prevents vectorization.
struct SqrtOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static void Vectorized(const T* in, T* out, int64_t n) {
    int64_t i = 0;
#ifdef __AVX__
    if constexpr (std::is_same_v<T, float>) {
      for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_sqrt_ps(_mm256_loadu_ps(in + i)));
    } else if constexpr (std::is_same_v<T, double>) {
      for (; i + 4 <= n; i += 4) _mm256_storeu_pd(out + i, _mm256_sqrt_pd(_mm256_loadu_pd(in + i)));
    }
#endif
    for (; i < n; ++i) out[i] = std::sqrt(in[i]);
  }
};
struct RsqrtOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1;
  template <typename T>
  static void Vectorized(const T* in, T* out, int64_t n) {
    SqrtOp::Vectorized(in, out, n);
    for (int64_t i = 0; i < n; ++i) out[i] = T(1) / out[i];
  }
  template <typename T>
  static RoundedHalf<T> Tail(RoundedHalf<T> x) {
    return RoundedHalf<T>(1) / RoundedHalf<T>(std::sqrt(x.value()));
  }
};
struct ReciprocalOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Run(T x) {
    return T(1) / x;
  }
};

struct CeilOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.3;
  static auto Eval(const auto& x) { return x.ceil(); }
};
struct FloorOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.3;
  static auto Eval(const auto& x) { return x.floor(); }
};
// Rounds halfway cases to the even neighbor.
struct RoundOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.3;
  static auto Eval(const auto& x) requires(
      !std::is_integral_v<typename std::decay_t<decltype(x)>::Scalar>) {
    return x.rint();
  }
  template <typename T>
  static T Run(T x) requires std::is_integral_v<T> {
    return x;
  }
};
struct RintOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.3;
  static auto Eval(const auto& x) { return x.rint(); }
};

struct IsNanOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static bool Run(T x) {
    return x != x;
  }
};
struct IsInfOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static bool Run(T x) {
    return std::abs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsFiniteOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static bool Run(T x) {
    return std::abs(x) < std::numeric_limits<T>::infinity();
  }
};

struct LogicalNotOp {
  using Types = TypeList<bool>;
  static constexpr double kCost = 0.2;
  template <typename T>
  static bool Run(T x) {
    return !x;
  }
};
struct InvertOp {
  using Types = IntegerTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static T Run(T x) {
    return static_cast<T>(~x);
  }
};

struct ConjOp {
  using Types = NumberTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T x) {
    if constexpr (kIsComplex<T>)
      return std::conj(x);
    else
      return x;
  }
};
struct RealOp {
  using Types = ComplexTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static auto Run(T x) {
    return x.real();
  }
};
struct ImagOp {
  using Types = ComplexTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static auto Run(T x) {
    return x.imag();
  }
};
struct AngleOp {
  using Types = ComplexTypes;
  static constexpr double kCost = 10;
  template <typename T>
  static auto Run(T x) {
    return std::arg(x);
  }
};
struct ComplexAbsOp {
  using Types = ComplexTypes;
  static constexpr double kCost = 3;
  template <typename T>
  static auto Run(T x) {
    return std::abs(x);
  }
};

// Complex input only; the result has the dtype of the parts.
#define GRAPNEL_PART_KERNEL(name, Op)                                           \
  GRAPNEL_CPU_KERNEL(name, MakeUnary<Op>, OfTypes("T", {proto::DT_COMPLEX64}),  \
                     OfTypes("Tout", {proto::DT_FLOAT}));                       \
  GRAPNEL_CPU_KERNEL(name, MakeUnary<Op>, OfTypes("T", {proto::DT_COMPLEX128}), \
                     OfTypes("Tout", {proto::DT_DOUBLE}))

GRAPNEL_UNARY_KERNEL("Neg", "T", NegOp);
GRAPNEL_UNARY_KERNEL("Abs", "T", AbsOp);
GRAPNEL_UNARY_KERNEL("Sign", "T", SignOp);
GRAPNEL_UNARY_KERNEL("Square", "T", SquareOp);
GRAPNEL_UNARY_KERNEL("Sqrt", "T", SqrtOp);
GRAPNEL_UNARY_KERNEL("Rsqrt", "T", RsqrtOp);
GRAPNEL_UNARY_KERNEL("Reciprocal", "T", ReciprocalOp);
GRAPNEL_UNARY_KERNEL("Inv", "T", ReciprocalOp);
GRAPNEL_UNARY_KERNEL("Ceil", "T", CeilOp);
GRAPNEL_UNARY_KERNEL("Floor", "T", FloorOp);
GRAPNEL_UNARY_KERNEL("Round", "T", RoundOp);
GRAPNEL_UNARY_KERNEL("Rint", "T", RintOp);
GRAPNEL_UNARY_KERNEL("IsNan", "T", IsNanOp);
GRAPNEL_UNARY_KERNEL("IsInf", "T", IsInfOp);
GRAPNEL_UNARY_KERNEL("IsFinite", "T", IsFiniteOp);
GRAPNEL_CPU_KERNEL("LogicalNot", MakeUnary<LogicalNotOp>);
GRAPNEL_UNARY_KERNEL("Invert", "T", InvertOp);
GRAPNEL_UNARY_KERNEL("Conj", "T", ConjOp);
GRAPNEL_PART_KERNEL("Real", RealOp);
GRAPNEL_PART_KERNEL("Imag", ImagOp);
GRAPNEL_PART_KERNEL("Angle", AngleOp);
GRAPNEL_PART_KERNEL("ComplexAbs", ComplexAbsOp);

}  // namespace
}  // namespace grapnel
