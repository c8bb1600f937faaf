// Measures the difference between two tensors.
#ifndef GRAPNEL_LIB_CHECK_TENSOR_DIFFERENCE_H_
#define GRAPNEL_LIB_CHECK_TENSOR_DIFFERENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// The allowed difference: |b - a| <= max(atol + rtol * |a|, 2 ulp).
struct Tolerance {
  double rtol = 1e-4;          // multiplied by 64 for half and bfloat16, as in ValueCheck
  std::optional<double> atol;  // nullopt: AbsoluteTolerance() of `a`
};

enum class Agreement : uint8_t {
  kSame,    // the same bits, except that all NaNs are equal, and -0 equals 0
  kWithin,  // different, but within the tolerance
  kDiverged,
};

// How `b` differs from `a`. The parts of complex numbers are compared separately. NaN equals NaN,
// and an infinity equals the same infinity; integers, bool and strings must be equal.
struct TensorDifference {
  Agreement agreement = Agreement::kSame;
  // "dtype", "shape", "nan" (in one place, a NaN or infinity in only one tensor, or another one in
  // each), or empty.
  std::string mismatch;
  int64_t elements = 0, diverged = 0;  // diverged: elements (or parts) outside of the tolerance
  double max_abs = 0;                  // largest |b - a| of elements that are finite in both
  double max_rel = 0;                  // the same divided by |a|, of those where a is not 0
  double max_ulps = 0;  // largest distance in numbers of a floating-point dtype; else 0
  // The cosine of the angle between `a` and `b` as vectors, of elements that are finite in both; 1
  // if either is 0, for equal tensors and for other dtypes than floats; 0 if a square overflows.
  double cosine = 1;
  // max_abs divided by the largest magnitude in `a`, unless that is 0. Comparing it for inputs and
  // outputs shows whether an op amplifies errors.
  double norm_error = 0;
  // The index of the first mismatch "nan", else of the difference that is largest relative to the
  // tolerance; for integers, of the largest difference; for strings, of the first. Empty for equal
  // tensors, other dtypes or shapes, and scalars.
  std::vector<int64_t> index;
  std::string value_a, value_b;
};

// Compares two tensors, which must not be variants or resources. Cost: linear; if all bits are
// equal, that of memcmp.
TensorDifference DifferenceOf(const Tensor& a, const Tensor& b, const Tolerance& tolerance);

// Returns half the distance from 1 to the next number of a floating-point or complex dtype; 0 for
// other dtypes.
double UnitRoundoff(DataType type);

// Returns the index of an element in dimensions `dims`, given its row-major position.
std::vector<int64_t> IndexOfElement(int64_t flat, llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_TENSOR_DIFFERENCE_H_
