// A list of objects for reuse. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_FREE_LIST_H_
#define GRAPNEL_LIB_EXEC_FREE_LIST_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace grapnel {

// Keeps returned objects for reuse. A single object that is taken and returned over and over needs
// neither a lock nor an allocation: most plans are run by one thread at a time. Thread-safe.
template <typename T>
class FreeList {
 public:
  FreeList() = default;
  FreeList(const FreeList&) = delete;
  FreeList& operator=(const FreeList&) = delete;
  ~FreeList() { delete last_.load(); }

  // Returns an object from the list; null if the list is empty: then the caller makes an object.
  std::unique_ptr<T> Take() {
    if (T* last = last_.exchange(nullptr, std::memory_order_acquire))
      return std::unique_ptr<T>(last);
    std::lock_guard lock(mutex_);
    if (others_.empty()) return nullptr;
    std::unique_ptr<T> taken = std::move(others_.back());
    others_.pop_back();
    return taken;
  }

  void GiveBack(std::unique_ptr<T> object) {
    T* none = nullptr;
    if (last_.compare_exchange_strong(none, object.get(), std::memory_order_release,
                                      std::memory_order_relaxed)) {
      (void)object.release();  // the list owns it now
      return;
    }
    std::lock_guard lock(mutex_);
    others_.push_back(std::move(object));
  }

 private:
  std::atomic<T*> last_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> others_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FREE_LIST_H_
