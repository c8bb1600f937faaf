#include "lib/support/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace grapnel {
namespace {

// Returns the number after `key`, in lines of keys and numbers like those of /proc/meminfo and
// memory.stat.
std::optional<uint64_t> NumberAfter(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    uint64_t number;
    if (word == key && file >> number) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

std::optional<uint64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t number;
  if (file >> number) return number;
  return std::nullopt;  // "max", or no such file
}

// Returns how many bytes of the memory limit of one cgroup are free; UINT64_MAX if no limit can be
// read. Counts only anonymous pages as used, because the kernel frees the cgroup's file pages when
// it needs memory.
uint64_t LeftInCgroup(const std::string& folder) {
  std::optional<uint64_t> limit = NumberIn(folder + "/memory.max");
  std::optional<uint64_t> used = NumberAfter(folder + "/memory.stat", "anon");
  if (!limit) return UINT64_MAX;
  return *limit - std::min(*limit, used.value_or(0));
}

// Returns the least number of bytes that are free in this process's cgroup and those that contain
// it, since each may have a limit. /proc/self/cgroup names the cgroup in a line "0::/the/group".
uint64_t LeftInCgroups() {
  std::ifstream file("/proc/self/cgroup");
  uint64_t left = UINT64_MAX;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 3, "0::") != 0) continue;
    std::string group = line.substr(3);
    for (;; group.resize(group.rfind('/'))) {
      left = std::min(left, LeftInCgroup("/sys/fs/cgroup" + group));
      if (group.find_last_of('/') == std::string::npos) break;
    }
  }
  return left;
}

uint64_t LeftOfAddresses() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  uint64_t used = NumberIn("/proc/self/statm").value_or(0) * sysconf(_SC_PAGESIZE);
  return limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, used);
}

}  // namespace

uint64_t AvailableMemory() {
  std::optional<uint64_t> kilobytes = NumberAfter("/proc/meminfo", "MemAvailable:");
  uint64_t free = kilobytes ? *kilobytes * 1024 : UINT64_MAX;
  return std::min({free, LeftInCgroups(), LeftOfAddresses()});
}

void UseHugePages(const void* begin, size_t bytes) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20, kWorthIt = uintptr_t{8} << 20;
  if (bytes < kWorthIt) return;
  size_t to_first = -reinterpret_cast<uintptr_t>(begin) % kHugePage;
  char* first = const_cast<char*>(static_cast<const char*>(begin)) + to_first;
  madvise(first, (bytes - to_first) / kHugePage * kHugePage, MADV_HUGEPAGE);
}

}  // namespace grapnel
