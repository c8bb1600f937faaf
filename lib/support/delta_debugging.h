// Delta debugging (A. Zeller, "Yesterday, my program worked. Today, it does not. Why?"): what can
// go while something still shows, and with which step it began to show.
#ifndef GRAPNEL_LIB_SUPPORT_DELTA_DEBUGGING_H_
#define GRAPNEL_LIB_SUPPORT_DELTA_DEBUGGING_H_

#include <cstdint>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Offers the numbers below `count` to `take`, which says whether they went: first all, then what is
// left in chunks half as large, down to one by one. At most about 2 * count calls more than those
// that succeed. Errors: take's, which ends it.
Error TakeInChunks(size_t count, llvm::function_ref<Expected<bool>(llvm::ArrayRef<size_t>)> take);

// The first number above `good` that is bad, where `bad` is, and a bad one stays bad: by halves,
// without asking of either end. Errors: is_bad's.
Expected<int64_t> FirstBad(int64_t good, int64_t bad,
                           llvm::function_ref<Expected<bool>(int64_t)> is_bad);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_DELTA_DEBUGGING_H_
