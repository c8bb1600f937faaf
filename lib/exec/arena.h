// Memory for large buffers that come and go: what is given back side by side is one piece again.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_ARENA_H_
#define GRAPNEL_LIB_EXEC_ARENA_H_

#include <memory>

#include "lib/exec/tensor.h"

namespace grapnel {

// What an arena does with memory that nobody uses.
enum class IdleMemory {
  kKept,       // stays for the next buffers: values of runs
  kGivenBack,  // goes back to the system at once: weights, which come once
};

// Takes the smallest idle piece that a buffer fits into, the lowest of those, and cuts off what is
// left; so a run takes little more than what lives at the same time, whatever the sizes. Its memory
// grows within ranges of addresses that are set aside, and is counted in the process's budget as
// far as it was ever used. Buffers may outlive the arena. Thread-safe; a buffer costs the look-up
// in a tree of what is idle.
// `counter` is told of what is handed out and given back, and must outlive the buffers; null: none.
std::unique_ptr<Allocator> MakeArena(IdleMemory idle, MemoryCounter* counter = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_ARENA_H_
