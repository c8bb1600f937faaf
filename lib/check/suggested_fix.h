// Suggests fixes for ops that make NaN or infinity.
#ifndef GRAPNEL_LIB_CHECK_SUGGESTED_FIX_H_
#define GRAPNEL_LIB_CHECK_SUGGESTED_FIX_H_

#include <string>

#include "lib/check/first_cause.h"

namespace grapnel {

// Returns one sentence, "take the logarithm of max(x, 1e-7), or of softmax by log_softmax", by the
// op and its inputs. Empty: no better advice is known than to check the inputs.
std::string SuggestedFix(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_SUGGESTED_FIX_H_
