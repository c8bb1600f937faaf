// Sum, Mean, Prod, EuclideanNorm. Floats are summed in short float lanes that are combined in
// double: as fast as float, and more accurate than float additions alone.
#include <cmath>

#include "kernels/cpu/math/reduction.h"

namespace grapnel {
namespace {

template <typename T>
struct SumTypes {
  using Lane = WrapType<T>;
  using Acc = WrapType<T>;
};
template <>
struct SumTypes<float> {
  using Lane = float;
  using Acc = double;
};
template <>
struct SumTypes<Eigen::half> : SumTypes<float> {};
template <>
struct SumTypes<Eigen::bfloat16> : SumTypes<float> {};
template <>
struct SumTypes<double> {
  using Lane = double;
  using Acc = double;
};
template <>
struct SumTypes<Complex64> {
  using Lane = Complex128;
  using Acc = Complex128;
};
template <>
struct SumTypes<Complex128> : SumTypes<Complex64> {};

// Converts to the element type; a double is rounded to float before half or bfloat16, as in
// TensorFlow.
template <typename T, typename Acc>
T Rounded(Acc acc) {
  if constexpr (kIsSmallFloat<T>)
    return T(static_cast<float>(acc));
  else if constexpr (kIsComplex<T>)
    return T(acc);
  else
    return static_cast<T>(acc);
}

template <typename T>
struct SumOf : SumTypes<T> {
  using typename SumTypes<T>::Lane;
  using typename SumTypes<T>::Acc;
  static Lane Start() { return Lane(0); }
  template <typename In>
  static Lane Step(Lane lane, In x) {
    return lane + Lane(x);
  }
  static Acc Gather(Acc a, Acc b) { return a + b; }
  template <typename Out>
  static Out Finish(Acc acc, int64_t) {
    return Rounded<Out>(acc);
  }
};

// The sum is rounded to the type, for bfloat16 to float, before the division (reduction_half.cpp
// has the mean of halves). Integers are summed in 64 bits, and the quotient is truncated toward
// zero.
template <typename T>
struct MeanTypes : SumTypes<T> {};
template <typename T>
requires std::is_integral_v<T>
struct MeanTypes<T> {
  using Lane = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  using Acc = Lane;
};
template <typename T>
struct MeanOf : MeanTypes<T> {
  using typename MeanTypes<T>::Lane;
  using typename MeanTypes<T>::Acc;
  static Lane Start() { return Lane(0); }
  template <typename In>
  static Lane Step(Lane lane, In x) {
    return AddOf(lane, Lane(x));
  }
  static Acc Gather(Acc a, Acc b) { return AddOf(a, b); }
  template <typename Out>
  static Out Finish(Acc acc, int64_t count) {
    if constexpr (std::is_integral_v<Out>) {
      return count == 0 ? Out(0) : static_cast<Out>(acc / static_cast<Acc>(count));
    } else {
      if constexpr (kIsSmallFloat<Out>)
        return Out(static_cast<float>(acc) / static_cast<float>(count));
      else
        return Rounded<Out>(acc) / Out(static_cast<double>(count));
    }
  }
};

template <typename T>
struct ProdOf : SumTypes<T> {
  using typename SumTypes<T>::Lane;
  using typename SumTypes<T>::Acc;
  static Lane Start() { return Lane(1); }
  template <typename In>
  static Lane Step(Lane lane, In x) {
    return MulOf(lane, Lane(x));
  }
  static Acc Gather(Acc a, Acc b) { return MulOf(a, b); }
  template <typename Out>
  static Out Finish(Acc acc, int64_t) {
    return Rounded<Out>(acc);
  }
};

template <typename T>
struct EuclideanNormOf {
  using Lane = double;
  using Acc = double;
  static Lane Start() { return 0; }
  template <typename In>
  static Lane Step(Lane lane, In x) {
    if constexpr (kIsComplex<In>)
      return lane + std::norm(Complex128(x));
    else
      return lane + static_cast<double>(x) * static_cast<double>(x);
  }
  static Acc Gather(Acc a, Acc b) { return a + b; }
  template <typename Out>
  static Out Finish(Acc acc, int64_t) {
    return Rounded<Out>(std::sqrt(acc));
  }
};

template <template <typename> typename R>
Expected<KernelFn> MakeSum(const KernelSetup& setup) {
  DataType type = setup.input_type(0);
  bool product = setup.node().op() == "Prod";
  if (type == proto::DT_HALF || (type == proto::DT_BFLOAT16 && product))
    return MakeHalfReduction(setup);
  return MakeReduction<R, NumberTypes>(setup);
}

#define GRAPNEL_SUM_KERNEL(name, Make) \
  GRAPNEL_CPU_KERNEL(name, Make, OfTypes("T", DataTypesOf(NumberTypes())))
GRAPNEL_SUM_KERNEL("Sum", MakeSum<SumOf>);
GRAPNEL_SUM_KERNEL("Mean", MakeSum<MeanOf>);
GRAPNEL_SUM_KERNEL("Prod", MakeSum<ProdOf>);
GRAPNEL_SUM_KERNEL("EuclideanNorm", (MakeSum<EuclideanNormOf>));

}  // namespace
}  // namespace grapnel
