// The six OpenMP runtime functions that Debian's libdnnl calls, implemented on the program's own
// pool.
//
// Two sets of threads (the pool's and libgomp's) would compete for the same cores: each spins for a
// while before it sleeps, and a loop whose thread waits for a core takes milliseconds instead of
// microseconds. So these functions replace libgomp's: the loader resolves a symbol of libdnnl in
// the module that loaded it before it searches libgomp. If the process has libgomp in its global
// scope (a host program that uses OpenMP), libgomp wins, and this module then sets its number of
// threads.
#include "kernels/cpu/onednn/openmp.h"

#include <dlfcn.h>

#include "kernels/cpu/onednn/thread_pool_adapter.h"

#define EXPORTED __attribute__((visibility("default")))

extern "C" {
EXPORTED void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
EXPORTED void GOMP_barrier();
EXPORTED int omp_get_max_threads();
EXPORTED int omp_get_num_threads();
EXPORTED int omp_get_thread_num();
EXPORTED int omp_in_parallel();
}

namespace onednn = grapnel::onednn;

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
  onednn::RunLoop(body, data, static_cast<int>(threads));
}
void GOMP_barrier() { onednn::AwaitParts(); }
int omp_get_max_threads() { return onednn::MostParts(); }
int omp_get_num_threads() { return onednn::NumParts(); }
int omp_get_thread_num() { return onednn::PartIndex(); }
int omp_in_parallel() { return onednn::IsInLoop(); }

namespace grapnel::onednn {

// If the process has another OpenMP runtime, GOMP_parallel resolves to that runtime's function here
// too; the file that contains the function tells which runtime it is.
ForeignThreads OtherRuntime() {
  void* parallel = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  Dl_info theirs, ours;
  bool is_known = parallel && dladdr(parallel, &theirs) != 0 &&
                  dladdr(reinterpret_cast<void*>(&OtherRuntime), &ours) != 0;
  if (!is_known || theirs.dli_fbase == ours.dli_fbase) return {};
  return {reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")),
          reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"))};
}

}  // namespace grapnel::onednn
