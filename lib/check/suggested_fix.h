// What a person can do about an op that makes NaN or infinity.
#ifndef GRAPNEL_LIB_CHECK_MENDING_H_
#define GRAPNEL_LIB_CHECK_MENDING_H_

#include <string>

#include "lib/check/first_cause.h"

namespace grapnel {

// One sentence, "take the logarithm of max(x, 1e-7), or of softmax by log_softmax"; by the op, and
// by what it was given. Empty: nothing better is known than to look at the inputs.
std::string SuggestedFix(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_MENDING_H_
