// Why an op makes NaN or infinity of finite inputs. For lib/check/first_cause.cpp.
#ifndef GRAPNEL_LIB_CHECK_CAUSE_REASON_H_
#define GRAPNEL_LIB_CHECK_CAUSE_REASON_H_

#include <string>

#include "lib/check/first_cause.h"

namespace grapnel {

// "because its input Softmax:0 holds 12 zeros", "though all its inputs are finite: the result may
// be too large for its type"; of an op with a bad input that it is; "" of a tensor that is not bad.
// Reads node, op_type, value and inputs of `cause`.
std::string CauseReason(const Cause& cause);

// The input whose zeros or negative numbers made the output bad, -1 where that is not seen. Ops
// that fall over one input, such as a Log and the Reciprocal of its gradient, have one origin.
int KnownCauseInput(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_CAUSE_REASON_H_
