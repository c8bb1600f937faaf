// The program's operator new. If an allocation of 1 MiB or more exceeds the memory limit
// (MemoryBudget), it fails with an error that has the size; otherwise the system might kill the
// process. Smaller allocations are not checked. All forms of operator new and delete are here, so
// that memory from one implementation is never freed by another. The thread sanitizer has its own
// forms, which cannot be replaced.
#ifndef GRAPNEL_TSAN
#include <algorithm>
#include <cstdlib>
#include <new>

#include "lib/support/memory_budget.h"

namespace {

constexpr size_t kLarge = 1 << 20;

bool IsAllowed(size_t bytes) {
  if (bytes < kLarge) return true;
  return bytes <= INT64_MAX && grapnel::MemoryBudget::Get().Allows(static_cast<int64_t>(bytes));
}

void* Take(size_t bytes) {
  return IsAllowed(bytes) ? std::malloc(std::max<size_t>(bytes, 1)) : nullptr;
}

void* Take(size_t bytes, std::align_val_t alignment) {
  auto align = std::max(static_cast<size_t>(alignment), sizeof(void*));
  if (!IsAllowed(bytes)) return nullptr;
  return std::aligned_alloc(align, std::max<size_t>((bytes + align - 1) / align, 1) * align);
}

void* OrThrow(void* memory, size_t bytes) {
  if (!memory) throw grapnel::OverBudget(bytes);
  return memory;
}

}  // namespace

using Aligned = std::align_val_t;
using NoThrow = const std::nothrow_t&;

// Exports these functions, so that loaded libraries such as plugins use them too.
#pragma GCC visibility push(default)
void* operator new(size_t n) { return OrThrow(Take(n), n); }
void* operator new[](size_t n) { return OrThrow(Take(n), n); }
void* operator new(size_t n, Aligned to) { return OrThrow(Take(n, to), n); }
void* operator new[](size_t n, Aligned to) { return OrThrow(Take(n, to), n); }
void* operator new(size_t n, NoThrow) noexcept { return Take(n); }
void* operator new[](size_t n, NoThrow) noexcept { return Take(n); }
void* operator new(size_t n, Aligned to, NoThrow) noexcept { return Take(n, to); }
void* operator new[](size_t n, Aligned to, NoThrow) noexcept { return Take(n, to); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, Aligned) noexcept { std::free(memory); }
void operator delete[](void* memory, Aligned) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, Aligned) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, Aligned) noexcept { std::free(memory); }
void operator delete(void* memory, NoThrow) noexcept { std::free(memory); }
void operator delete[](void* memory, NoThrow) noexcept { std::free(memory); }
void operator delete(void* memory, Aligned, NoThrow) noexcept { std::free(memory); }
void operator delete[](void* memory, Aligned, NoThrow) noexcept { std::free(memory); }
#pragma GCC visibility pop
#endif
