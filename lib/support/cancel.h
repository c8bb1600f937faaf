// A flag that cancels running work.
#ifndef GRAPNEL_LIB_SUPPORT_CANCEL_H_
#define GRAPNEL_LIB_SUPPORT_CANCEL_H_

#include <atomic>
#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

// Any thread may set the flag; working threads check it, for example between kernels and inside
// long kernels. Thread-safe; a check costs one load. The flag must outlive the work.
class GRAPNEL_PUBLIC CancelFlag {
 public:
  void Cancel() { is_set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};
};

// Returns the error "cancelled" if `flag` is set, and success if it is null or not set.
inline Error StopIfCancelled(const CancelFlag* flag) {
  return flag && flag->is_set() ? MakeError("cancelled") : Error::success();
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_CANCEL_H_
