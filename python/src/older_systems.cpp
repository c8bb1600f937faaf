// Functions that only recent glibc and libstdc++ have, so that older systems can load the
// modules _tfgrapnel, grapnel_http and grapnel_icu (manylinux_2_34): `auditwheel show` lists the
// requirements. They are hidden, like all symbols of the modules except their entry points.
#include <pthread.h>
#include <sys/random.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>

// In glibc since 2.36. LLVM calls it for temporary file names.
extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

// std::condition_variable::wait of GLIBCXX_3.4.30.
extern "C" void
GrapnelWait(std::condition_variable* changed, std::unique_lock<std::mutex>* lock) asm(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
extern "C" void GrapnelWait(std::condition_variable* changed, std::unique_lock<std::mutex>* lock) {
  if (pthread_cond_wait(changed->native_handle(), lock->mutex()->native_handle()) != 0)
    std::abort();
}
