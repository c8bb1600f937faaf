// What this process may hold: bytes are asked for before they are taken.
#ifndef GRAPNEL_LIB_SUPPORT_MEMORY_BUDGET_H_
#define GRAPNEL_LIB_SUPPORT_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <new>
#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

// One for the process, thread-safe. Tensors in host memory are counted in it, pools that keep
// memory for later too; what else a program holds is not.
class GRAPNEL_PUBLIC MemoryBudget {
 public:
  static MemoryBudget& Get();

  // Four fifths of AvailableMemory() when it was first asked.
  static int64_t Default();
  void SetLimit(int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  int64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  // Counts them in; false, and nothing is counted, where that goes over the limit.
  bool Take(int64_t bytes);
  void Give(int64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool Allows(int64_t bytes) const { return bytes <= limit() - taken(); }

 private:
  MemoryBudget() : limit_(Default()) {}
  std::atomic<int64_t> limit_, taken_{0};
};

// Memory that is not to be had. Annotate() keeps it one.
class GRAPNEL_PUBLIC OutOfMemory : public llvm::ErrorInfo<OutOfMemory, llvm::StringError> {
 public:
  static char ID;
  explicit OutOfMemory(const std::string& text) : ErrorInfo(text, llvm::inconvertibleErrorCode()) {}
};

// "cannot take 4.4 TB: 1.2 GB of the 12.8 GB that a run may take (--memory) are in use".
GRAPNEL_PUBLIC Error MemoryRefused(uint64_t bytes);

// "8G", "500M", "50%" of what is free, or bytes. The error says what was expected.
GRAPNEL_PUBLIC Expected<int64_t> ParseMemory(llvm::StringRef text);

// For what holds memory beside tensors, a list of as many elements as the graph says: whether
// `count` elements of `size` bytes fit. A negative count does.
GRAPNEL_PUBLIC Error CheckMemory(int64_t count, size_t size);

// Thrown by an operator new that asks the budget (tools/memory_guard.cpp).
class GRAPNEL_PUBLIC OverBudget : public std::bad_alloc {
 public:
  explicit OverBudget(size_t bytes) : bytes_(bytes) {}
  const char* what() const noexcept override { return "more memory than a run may take"; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_MEMORY_BUDGET_H_
