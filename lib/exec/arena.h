// An allocator for large buffers, which merges adjacent free pieces.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_ARENA_H_
#define GRAPNEL_LIB_EXEC_ARENA_H_

#include <memory>

#include "lib/exec/tensor.h"

namespace grapnel {

// Buffers begin at multiples of this many bytes.
constexpr size_t kBufferAlignment = 64;

// Whether an arena keeps the memory of released buffers.
enum class IdleMemory {
  kKept,       // stays with the arena for the next buffers: values of runs
  kGivenBack,  // is returned to the system at once: weights, which are allocated once
};

// Returns a best-fit allocator: it takes the smallest free piece that fits, the lowest address
// among pieces of that size, and splits off the rest if that is at least 4 KiB. Thus the peak of a
// run is little more than the buffers that are alive at the same time, whatever their sizes. The
// arena grows within reserved ranges of addresses; the process's memory budget counts the memory
// that the arena holds, in use or idle. Buffers may outlive the arena. Thread-safe; a buffer costs
// a look-up in a tree of free pieces. `counter`, which may be null, counts the bytes in use, and
// must outlive the buffers.
std::unique_ptr<Allocator> MakeArena(IdleMemory idle, MemoryCounter* counter = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_ARENA_H_
