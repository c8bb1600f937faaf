// Selects one error among those of a parallel loop.
#ifndef GRAPNEL_LIB_SUPPORT_FIRST_ERROR_H_
#define GRAPNEL_LIB_SUPPORT_FIRST_ERROR_H_

#include <mutex>

#include "lib/support/error.h"

namespace grapnel {

// Keeps one of the errors that several threads report, that of the lowest index, so that the
// message does not depend on the number of threads.
class FirstError {
 public:
  FirstError() = default;
  FirstError(const FirstError&) = delete;
  FirstError& operator=(const FirstError&) = delete;
  ~FirstError() { llvm::consumeError(std::move(error_)); }
  void Report(int64_t index, Error error) {
    std::lock_guard lock(mutex_);
    if (index_ >= 0 && index_ <= index) {
      llvm::consumeError(std::move(error));
      return;
    }
    llvm::consumeError(std::move(error_));
    error_ = std::move(error);
    index_ = index;
  }
  Error Take() { return std::move(error_); }

 private:
  std::mutex mutex_;
  int64_t index_ = -1;
  Error error_ = Error::success();
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FIRST_ERROR_H_
