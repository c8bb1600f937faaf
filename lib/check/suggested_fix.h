// Suggests fixes for ops that make NaN or infinity.
#ifndef GRAPNEL_LIB_CHECK_SUGGESTED_FIX_H_
#define GRAPNEL_LIB_CHECK_SUGGESTED_FIX_H_

#include <string>

#include "lib/check/first_cause.h"

namespace grapnel {

// Returns advice in one sentence, such as "clip x to at least 1", for the op of `cause`; empty if
// there is no better advice than to check the inputs.
std::string SuggestedFix(const Cause& cause);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_SUGGESTED_FIX_H_
