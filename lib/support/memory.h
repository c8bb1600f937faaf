// Available memory and huge pages.
#ifndef GRAPNEL_LIB_SUPPORT_MEMORY_H_
#define GRAPNEL_LIB_SUPPORT_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace grapnel {

// Returns how many bytes this process can still allocate. That is the least of three: the free
// memory of the machine (caches count as free), what is left of the limits of its cgroups (version
// 2, such as a container's), and what is left of `ulimit -v`. Omits those that are not known. Only
// an estimate, which changes all the time; callers use it to reject work that cannot fit. Reads a
// few files of /proc and /sys.
uint64_t AvailableMemory();

// Requests huge pages for memory that the caller will fill and then read in random order, which
// saves most page faults and TLB misses. Does nothing if the memory is smaller than 8 MiB or the
// system has no huge pages.
void UseHugePages(const void* begin, size_t bytes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_MEMORY_H_
