// Runs two tasks, at the same time if they are long.
#ifndef GRAPNEL_LIB_SUPPORT_SIDE_BY_SIDE_H_
#define GRAPNEL_LIB_SUPPORT_SIDE_BY_SIDE_H_

#include <cstddef>
#include <future>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// With fewer nodes, a second thread does not save time.
constexpr size_t kNodesWorthThreads = 20'000;

// Calls both functions, on two threads if `is_long`, and returns when both are done. Neither may
// write what the other reads. `is_long`: each takes longer than starting a thread does, some 50
// microseconds; otherwise they run one after the other.
inline void SideBySide(bool is_long, llvm::function_ref<void()> one,
                       llvm::function_ref<void()> other) {
  if (!is_long) {
    one();
    other();
    return;
  }
  std::future<void> running = std::async(std::launch::async, one);
  other();
  running.get();
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SIDE_BY_SIDE_H_
