// The op at which a check of numbers ended a run, as a case folder.
#ifndef GRAPNEL_LIB_JOB_FAILING_CASE_H_
#define GRAPNEL_LIB_JOB_FAILING_CASE_H_

#include "lib/watch/check_numerics.h"

namespace grapnel {

// Writes the op alone, with what it was given as feeds and a CheckNumerics after the output that
// was bad: `replay` fails on it alike, until the op is mended. Errors: a file cannot be written;
// the op was given a resource or a list, which no file holds.
Error SaveFailingCase(const NumericsFailure& failure, llvm::StringRef folder);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FAILING_CASE_H_
