#include "lib/support/delta_debugging.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace grapnel {

Error TakeInChunks(size_t count, llvm::function_ref<Expected<bool>(llvm::ArrayRef<size_t>)> take) {
  std::vector<size_t> left(count);
  std::iota(left.begin(), left.end(), size_t{0});
  for (size_t size = count; size > 0; size /= 2) {
    for (size_t at = 0; at < left.size();) {
      auto begin = left.begin() + static_cast<std::ptrdiff_t>(at);
      auto end = begin + static_cast<std::ptrdiff_t>(std::min(size, left.size() - at));
      ASSIGN_OR_RETURN(bool went, take(llvm::ArrayRef<size_t>(&*begin, end - begin)));
      if (went)
        left.erase(begin, end);
      else
        at += size;
    }
  }
  return Error::success();
}

Expected<int64_t> FirstBad(int64_t good, int64_t bad,
                           llvm::function_ref<Expected<bool>(int64_t)> is_bad) {
  while (bad - good > 1) {
    int64_t middle = good + (bad - good) / 2;
    ASSIGN_OR_RETURN(bool middle_is_bad, is_bad(middle));
    (middle_is_bad ? bad : good) = middle;
  }
  return bad;
}

}  // namespace grapnel
