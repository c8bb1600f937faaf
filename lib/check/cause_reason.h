// Explains why the output of an op has NaN or infinity.
#ifndef GRAPNEL_LIB_CHECK_CAUSE_REASON_H_
#define GRAPNEL_LIB_CHECK_CAUSE_REASON_H_

#include <string>

#include "lib/check/first_cause.h"

namespace grapnel {

// Returns "because its input Softmax:0 holds 12 zeros", or "though all its inputs are finite: the
// result may be too large for its dtype". If an input was bad, the reason is this input. Returns ""
// for a tensor that is not bad. Reads only `op_type`, `value` and `inputs` of `cause`.
std::string CauseReason(const Cause& cause);

// Returns the index of the input whose zeros or negative numbers explain a bad output; -1 if no
// known cause applies. If several ops are bad because of the same input, such as a Log and the
// Reciprocal in its gradient, they have one origin.
int KnownCauseInput(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_CAUSE_REASON_H_
