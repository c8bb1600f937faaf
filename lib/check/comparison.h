// Compares two tensors with the tolerances of a case folder.
#ifndef GRAPNEL_LIB_CHECK_COMPARISON_H_
#define GRAPNEL_LIB_CHECK_COMPARISON_H_

#include <string>

#include "lib/ir/literal.h"

namespace grapnel {

// Compares `got` to `expected` within max(atol + rtol * |expected|, 2 ulp). NaN equals NaN.
// Elements that are not floating-point or complex must be equal, as must dtype and shape.
struct Comparison {
  bool same = true;
  double max_error = 0;  // largest finite |got - expected|; 0 for strings
  std::string message;   // describes the difference, if any
};
Comparison Compare(const Literal& got, const Literal& expected, double rtol, double atol);

// Returns the largest finite magnitude of a float literal, or of the parts of a complex one; 0 for
// other dtypes.
double LargestMagnitude(const Literal& literal);

// Returns the `atol` to use with `rtol` in a generated case, computed from the expected values
// alone: `rtol` times the median magnitude of those that are finite and not 0, since the error of a
// sum that is near zero depends on the size of its terms. `atol` is at most a tenth of the
// magnitude that a fifth of the nonzero elements do not exceed; otherwise, where magnitudes span
// many powers of ten, a wrong 0 would pass for a small element. Returns 0 for integers and other
// exact dtypes, and if no expected value is finite and not 0. tools/tolerance.py implements the
// same rule.
double AbsoluteTolerance(const Literal& expected, double rtol);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_COMPARISON_H_
