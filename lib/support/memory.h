// How much memory there is.
#ifndef GRAPNEL_LIB_SUPPORT_MEMORY_H_
#define GRAPNEL_LIB_SUPPORT_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace grapnel {

// Bytes that this process may still fill: the least of what the machine has free (caches count as
// free), what is left of its cgroup's limit (a container's) and of `ulimit -v`. An estimate, for
// refusing what cannot work; it changes from moment to moment. Reads a few files of /proc and /sys.
uint64_t AvailableMemory();

// Asks for huge pages under memory that is about to be filled and read in no order: a tenth of the
// page faults, and of the waits for what a page is. Nothing where it is small, or the system has
// none.
void UseHugePages(const void* begin, size_t bytes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_MEMORY_H_
