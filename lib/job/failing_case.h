// Saves the op at which a numerics check ended a run as a case folder.
#ifndef GRAPNEL_LIB_JOB_FAILING_CASE_H_
#define GRAPNEL_LIB_JOB_FAILING_CASE_H_

#include "lib/watch/check_numerics.h"

namespace grapnel {

// Writes the op alone, with its inputs as feeds and a CheckNumerics after its bad output: `replay`
// of that case fails in the same way until the op is fixed. Errors: a file cannot be written; an
// input cannot be saved, such as a resource or a list.
Error SaveFailingCase(const NumericsFailure& failure, llvm::StringRef folder);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FAILING_CASE_H_
