// Delta debugging (A. Zeller, "Yesterday, my program worked. Today, it does not. Why?"): finds what
// can be removed while a symptom still shows, and the step at which the symptom first appears.
#ifndef GRAPNEL_LIB_SUPPORT_DELTA_DEBUGGING_H_
#define GRAPNEL_LIB_SUPPORT_DELTA_DEBUGGING_H_

#include <cstdint>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Finds which of the numbers 0 to count - 1 can be removed. `take` is called with some of the
// numbers, tries to remove them, and returns whether it did. Tries all numbers at once first, then
// those that remain in chunks, whose size is halved down to single numbers. At most about 2 * count
// calls return false. An error from `take` ends the search.
Error TakeInChunks(size_t count, llvm::function_ref<Expected<bool>(llvm::ArrayRef<size_t>)> take);

// Returns the smallest bad number above `good`, by bisection. The caller guarantees that `good` is
// good, `bad` is bad, and each number after a bad one is bad too; `is_bad` is called only for
// numbers in between. Returns the errors of `is_bad`.
Expected<int64_t> FirstBad(int64_t good, int64_t bad,
                           llvm::function_ref<Expected<bool>(int64_t)> is_bad);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_DELTA_DEBUGGING_H_
