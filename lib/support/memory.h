// Available memory and huge pages.
#ifndef GRAPNEL_LIB_SUPPORT_MEMORY_H_
#define GRAPNEL_LIB_SUPPORT_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace grapnel {

// Returns how many bytes this process can still allocate: the minimum of the machine's free memory
// (caches count as free), the rest of its cgroup limit (a container's) and the rest of `ulimit -v`.
// An estimate that changes all the time, for rejecting work that cannot fit. Reads a few files of
// /proc and /sys.
uint64_t AvailableMemory();

// Requests huge pages for memory that the caller is about to fill and then read in random order,
// which saves nine of ten page faults and TLB misses. Does nothing if the memory is small or the
// system has no huge pages.
void UseHugePages(const void* begin, size_t bytes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_MEMORY_H_
