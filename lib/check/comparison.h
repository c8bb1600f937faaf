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

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_COMPARISON_H_
