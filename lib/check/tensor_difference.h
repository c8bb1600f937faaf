// By how much two tensors differ: the measures that people compare runs by.
#ifndef GRAPNEL_LIB_CHECK_TENSOR_DIFFERENCE_H_
#define GRAPNEL_LIB_CHECK_TENSOR_DIFFERENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// What may differ: |b - a| <= max(atol + rtol * |a|, 2 ulp).
struct Tolerance {
  double rtol = 1e-4;          // half and bfloat16: 64 times that, as of ValueCheck
  std::optional<double> atol;  // none: of each tensor what AbsoluteTolerance() says
};

enum class Agreement : uint8_t {
  kSame,    // bit for bit, but that every NaN is one and -0 is 0
  kWithin,  // the tolerance
  kDiverged,
};

// Of `b` against `a`. Of complex numbers the parts are elements of their own. NaN equals NaN, and
// an infinity itself; of integers, bool and strings only equal ones agree.
struct TensorDifference {
  Agreement agreement = Agreement::kSame;
  std::string mismatch;  // "dtype", "shape", "nan" (or infinity, in one of them), else empty
  int64_t elements = 0, diverged = 0;  // diverged: outside of the tolerance
  double max_abs = 0;                // of elements that are finite in both
  double max_rel = 0;                // |b - a| / |a|, where a is not 0
  double max_ulps = 0;               // how many numbers of the dtype apart; 0 of integers
  // Of the angle between the two as vectors: 1 where one is 0, 0 where a square is too large.
  double cosine = 1;
  // The largest error as a part of the largest magnitude of `a`: what an op makes grow or not.
  double norm_error = 0;
  std::vector<int64_t> index;  // where they differ most: a mismatch of NaN first
  std::string value_a, value_b;
};

// Neither may hold objects. Cost: linear; of equal bits that of memcmp.
TensorDifference DifferenceOf(const Tensor& a, const Tensor& b, const Tolerance& tolerance);

// Half the distance from 1 to the next number of a floating or complex dtype; 0 of others.
double UnitRoundoff(DataType type);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_TENSOR_DIFFERENCE_H_
