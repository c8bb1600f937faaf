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
  double rtol = 1e-4;          // half and bfloat16: 64 times that, as in ValueCheck
  std::optional<double> atol;  // nullopt: AbsoluteTolerance() of each tensor
};

enum class Agreement : uint8_t {
  kSame,    // bit for bit, except that all NaNs are equal, and -0 equals 0
  kWithin,  // within the tolerance
  kDiverged,
};

// The difference of `b` from `a`. The parts of complex numbers are separate elements. NaN equals
// NaN, and an infinity itself; integers, bool and strings agree only if they are equal.
struct TensorDifference {
  Agreement agreement = Agreement::kSame;
  std::string mismatch;  // "dtype", "shape", "nan" (or infinity, in one of them), else empty
  int64_t elements = 0, diverged = 0;  // diverged: outside of the tolerance
  double max_abs = 0;                  // of elements that are finite in both
  double max_rel = 0;                  // |b - a| / |a|, where a is not 0
  double max_ulps = 0;                 // in representable numbers of the dtype; 0 for integers
  // The cosine of the angle between the two as vectors: 1 if one is 0, 0 if a square overflows.
  double cosine = 1;
  // The largest error relative to the largest magnitude of `a`: shows whether an op amplifies
  // errors.
  double norm_error = 0;
  std::vector<int64_t> index;  // the largest difference: a mismatch of NaN first
  std::string value_a, value_b;
};

// Neither may hold objects. Cost: linear; for equal bits that of memcmp.
TensorDifference DifferenceOf(const Tensor& a, const Tensor& b, const Tolerance& tolerance);

// Returns half the distance from 1 to the next number of a floating or complex dtype; else 0.
double UnitRoundoff(DataType type);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_TENSOR_DIFFERENCE_H_
