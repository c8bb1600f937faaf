#include "lib/support/memory_budget.h"

#include <algorithm>

#include "lib/support/memory.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

char OutOfMemory::ID = 0;

MemoryBudget& MemoryBudget::Get() {
  static MemoryBudget budget;
  return budget;
}

int64_t MemoryBudget::Default() {
  static const int64_t bytes =
      static_cast<int64_t>(std::min<uint64_t>(AvailableMemory(), INT64_MAX)) / 5 * 4;
  return bytes;
}

bool MemoryBudget::Take(int64_t bytes) {
  int64_t taken = taken_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit() - taken) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
  return true;
}

Error MemoryRefused(uint64_t bytes) {
  const MemoryBudget& budget = MemoryBudget::Get();
  return llvm::make_error<OutOfMemory>(
      llvm::formatv("cannot allocate {0}: {1} of the {2} that a run may use (--memory) are in use",
                    HumanBytes(bytes), HumanBytes(budget.taken()), HumanBytes(budget.limit()))
          .str());
}

Expected<int64_t> ParseMemory(llvm::StringRef text) {
  auto wrong = [&] {
    return MakeError(
        "'{0}' is not a memory size: 8G, 500M, 50% or a positive number of bytes was expected",
        text);
  };
  llvm::StringRef number =
      text.take_while([](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  llvm::StringRef unit = text.drop_front(number.size());
  double value = 0;
  if (number.getAsDouble(value)) return wrong();
  double factor = llvm::StringSwitch<double>(unit.upper())
                      .Cases("", "B", 1)
                      .Cases("K", "KB", 1e3)
                      .Cases("M", "MB", 1e6)
                      .Cases("G", "GB", 1e9)
                      .Cases("T", "TB", 1e12)
                      .Case("%", static_cast<double>(AvailableMemory()) / 100)
                      .Default(0);
  double bytes = value * factor;
  if (bytes < 1 || bytes > 9e18) return wrong();
  return static_cast<int64_t>(bytes);
}

Error CheckMemory(int64_t count, size_t size) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(size), &bytes))
    return count < 0 ? Error::success() : MemoryRefused(UINT64_MAX);
  return MemoryBudget::Get().Allows(bytes) ? Error::success() : MemoryRefused(bytes);
}

}  // namespace grapnel
