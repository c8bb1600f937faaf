// Dispatch from a dtype to a C++ type, and the dtype lists that kernels register with.
#ifndef GRAPNEL_KERNELS_COMMON_DISPATCH_H_
#define GRAPNEL_KERNELS_COMMON_DISPATCH_H_

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "Eigen/Core"
#include "lib/ir/types.h"

// Tells the compiler that the next loop may read and write the same memory only at the same element
// (an output in the memory of an input). Without this pragma, the compiler's overlap check selects
// the scalar version of exactly those loops. clang by default interleaves four vectors, which
// leaves a row of 16 channels to scalar code; hence interleave_count(1).
#if defined(__clang__)
#define GRAPNEL_VECTORIZE _Pragma("clang loop vectorize(assume_safety) interleave_count(1)")
#else
#define GRAPNEL_VECTORIZE _Pragma("GCC ivdep")
#endif

namespace grapnel {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

template <typename T>
struct TypeTag {
  using type = T;
};
template <typename... Ts>
struct TypeList {};

namespace dispatch_internal {
template <typename A, typename B>
struct Concat;
template <typename... As, typename... Bs>
struct Concat<TypeList<As...>, TypeList<Bs...>> {
  using type = TypeList<As..., Bs...>;
};
}  // namespace dispatch_internal
template <typename A, typename B>
using Join = typename dispatch_internal::Concat<A, B>::type;

using FloatTypes = TypeList<float, double, Eigen::half, Eigen::bfloat16>;
using ComplexTypes = TypeList<Complex64, Complex128>;
using SignedTypes = TypeList<int32_t, int64_t, int8_t, int16_t>;
using UnsignedTypes = TypeList<uint8_t, uint16_t, uint32_t, uint64_t>;
using IntegerTypes = Join<SignedTypes, UnsignedTypes>;
using RealTypes = Join<FloatTypes, IntegerTypes>;
using NumberTypes = Join<RealTypes, ComplexTypes>;
using FloatOrComplexTypes = Join<FloatTypes, ComplexTypes>;

template <typename T>
constexpr DataType DataTypeOf() {
  if constexpr (std::is_same_v<T, float>) return proto::DT_FLOAT;
  if constexpr (std::is_same_v<T, double>) return proto::DT_DOUBLE;
  if constexpr (std::is_same_v<T, Eigen::half>) return proto::DT_HALF;
  if constexpr (std::is_same_v<T, Eigen::bfloat16>) return proto::DT_BFLOAT16;
  if constexpr (std::is_same_v<T, Complex64>) return proto::DT_COMPLEX64;
  if constexpr (std::is_same_v<T, Complex128>) return proto::DT_COMPLEX128;
  if constexpr (std::is_same_v<T, int8_t>) return proto::DT_INT8;
  if constexpr (std::is_same_v<T, int16_t>) return proto::DT_INT16;
  if constexpr (std::is_same_v<T, int32_t>) return proto::DT_INT32;
  if constexpr (std::is_same_v<T, int64_t>) return proto::DT_INT64;
  if constexpr (std::is_same_v<T, uint8_t>) return proto::DT_UINT8;
  if constexpr (std::is_same_v<T, uint16_t>) return proto::DT_UINT16;
  if constexpr (std::is_same_v<T, uint32_t>) return proto::DT_UINT32;
  if constexpr (std::is_same_v<T, uint64_t>) return proto::DT_UINT64;
  if constexpr (std::is_same_v<T, bool>) return proto::DT_BOOL;
  if constexpr (std::is_same_v<T, std::string>) return proto::DT_STRING;
  return proto::DT_INVALID;
}

template <typename... Ts>
std::vector<DataType> DataTypesOf(TypeList<Ts...>) {
  return {DataTypeOf<Ts>()...};
}

// Returns f(TypeTag<T>()) for the T in the list whose dtype is `dtype`, or a default value when
// none matches.
template <typename F, typename T, typename... Rest>
auto ForType(DataType dtype, TypeList<T, Rest...>, F&& f) -> decltype(f(TypeTag<T>())) {
  if (dtype == DataTypeOf<T>()) return f(TypeTag<T>());
  if constexpr (sizeof...(Rest) > 0) {
    return ForType(dtype, TypeList<Rest...>(), f);
  } else {
    return decltype(f(TypeTag<T>()))();
  }
}

template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

// True for half and bfloat16. Most kernels compute with them as floats, block by block, and round
// once.
template <typename T>
inline constexpr bool kIsSmallFloat =
    std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>;
inline constexpr int64_t kFloatBlock = 512;

void Widen(const Eigen::half* in, float* out, int64_t n);
void Widen(const Eigen::bfloat16* in, float* out, int64_t n);
void Narrow(const float* in, Eigen::half* out, int64_t n);
void Narrow(const float* in, Eigen::bfloat16* out, int64_t n);

// The unsigned type in which AddOf, SubOf and MulOf compute with integers, so that results wrap as
// TensorFlow's do on real hardware. In C++ signed overflow is undefined, also for 16-bit types,
// which are promoted to int.
template <typename T>
using WrapType =
    std::conditional_t<(sizeof(T) < 4), uint32_t,
                       std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>>;

template <typename T>
T AddOf(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(WrapType<T>(a) + WrapType<T>(b));
  else
    return a + b;
}
template <typename T>
T SubOf(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(WrapType<T>(a) - WrapType<T>(b));
  else
    return a - b;
}
// Multiplies complex numbers by the plain formula. C99 also turns NaN results of infinite operands
// back into infinities, which is slow; TensorFlow does not do so either.
template <typename T>
T MulOf(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(WrapType<T>(a) * WrapType<T>(b));
  } else if constexpr (kIsComplex<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_DISPATCH_H_
