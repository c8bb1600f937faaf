// Whether two tensors hold the same values, as a case folder understands it.
#ifndef GRAPNEL_LIB_CHECK_COMPARISON_H_
#define GRAPNEL_LIB_CHECK_COMPARISON_H_

#include <string>

#include "lib/ir/literal.h"

namespace grapnel {

// Whether `got` is `expected` within max(atol + rtol * |expected|, 2 ulp); NaN equals NaN; dtype
// and shape must be equal.
struct Comparison {
  bool same = true;
  double max_error = 0;  // largest |got - expected|
  std::string message;   // why not
};
Comparison Compare(const Literal& got, const Literal& expected, double rtol, double atol);

// For cases that are made: what `atol` may be beside `rtol`, from the expected values alone. It is
// `rtol` of the median magnitude, since sums of numbers of both signs come near zero and are off by
// a part of what was added; but at most a tenth of what the smallest fifth of the elements stays
// below, so that none passes for zero where magnitudes spread over many powers of ten. 0 for what
// is not rounded. tools/tolerance.py is the same rule.
double AbsoluteTolerance(const Literal& expected, double rtol);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_COMPARISON_H_
