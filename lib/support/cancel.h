// Work that somebody no longer wants.
#ifndef GRAPNEL_LIB_SUPPORT_CANCEL_H_
#define GRAPNEL_LIB_SUPPORT_CANCEL_H_

#include <atomic>
#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

// Set by one thread, looked at by those that work: between kernels, and within what can take long.
// It outlives the work. Thread-safe; looking costs a load.
class GRAPNEL_PUBLIC CancelFlag {
 public:
  void Cancel() { is_set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};
};

// The error of work that ends because of the flag; success where it is null or not set.
inline Error StopIfCancelled(const CancelFlag* flag) {
  return flag && flag->is_set() ? MakeError("cancelled") : Error::success();
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_CANCEL_H_
