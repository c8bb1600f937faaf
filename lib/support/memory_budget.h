// A memory budget for this process: callers reserve bytes before they allocate.
#ifndef GRAPNEL_LIB_SUPPORT_MEMORY_BUDGET_H_
#define GRAPNEL_LIB_SUPPORT_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <new>
#include <string>

#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

// The budget of the process; thread-safe. It counts what callers reserve with Take(): host tensors
// and the pools that keep memory for reuse, but not the program's other memory.
class GRAPNEL_PUBLIC MemoryBudget {
 public:
  static MemoryBudget& Get();

  // Returns the default limit: four fifths of what AvailableMemory() returned at the first call.
  static int64_t Default();
  void SetLimit(int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  int64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  // Reserves `bytes`; if that would exceed the limit, reserves nothing and returns false.
  bool Take(int64_t bytes);
  void Give(int64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool Allows(int64_t bytes) const { return bytes <= limit() - taken(); }

 private:
  MemoryBudget() : limit_(Default()) {}
  std::atomic<int64_t> limit_, taken_{0};
};

// The error of an allocation that failed or would exceed the budget. Its C++ type survives
// Annotate(), so callers can recognize it.
class GRAPNEL_PUBLIC OutOfMemory : public llvm::ErrorInfo<OutOfMemory, llvm::StringError> {
 public:
  static char ID;
  explicit OutOfMemory(const std::string& text) : ErrorInfo(text, llvm::inconvertibleErrorCode()) {}
};

// Returns an OutOfMemory error for an allocation of `bytes`: "cannot allocate 4.4 TB: 1.2 GB of the
// 12.8 GB that a run may use (--memory) are in use".
GRAPNEL_PUBLIC Error MemoryRefused(uint64_t bytes);

// Parses a memory limit, such as "8G", "500M", "50%" (of AvailableMemory()) or a number of bytes;
// units are powers of 1000. Errors say what was expected.
GRAPNEL_PUBLIC Expected<int64_t> ParseMemory(llvm::StringRef text);

// Returns an error if `count` elements of `size` bytes do not fit into what is left of the budget;
// reserves nothing. For memory other than tensors, such as a list whose length comes from the
// graph. Accepts a negative count.
GRAPNEL_PUBLIC Error CheckMemory(int64_t count, size_t size);

// Thrown by operator new if an allocation fails, or if one of 1 MiB or more would exceed the
// budget; tools/memory_guard.cpp defines that operator.
class GRAPNEL_PUBLIC OverBudget : public std::bad_alloc {
 public:
  explicit OverBudget(size_t bytes) : bytes_(bytes) {}
  const char* what() const noexcept override { return "more memory than a run may use"; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_MEMORY_BUDGET_H_
