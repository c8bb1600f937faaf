#include "lib/support/shrunk_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace grapnel {
namespace {

uintptr_t page_size;

// Puts a page of zeros where there is none to read. Only system calls: it may run at any point.
void OnBusError(int signal, siginfo_t* info, void*) {
  char* page = static_cast<char*>(info->si_addr);
  page -= reinterpret_cast<uintptr_t>(page) % page_size;
  bool is_behind_end = info->si_code == BUS_ADRERR;
  if (is_behind_end && mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                            0) != MAP_FAILED) {
    return;
  }
  std::signal(signal, SIG_DFL);  // the access is tried again, and ends the process
}

}  // namespace

void ReadZerosBehindFileEnds() {
  page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace grapnel
