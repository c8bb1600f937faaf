// Runs oneDNN's loops on the program's thread pool, or on an OpenMP runtime already in the process.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_THREAD_POOL_ADAPTER_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_THREAD_POOL_ADAPTER_H_

#include "kernels/common/onednn_api.h"

namespace grapnel::onednn {

// omp_set_num_threads and omp_get_max_threads of another OpenMP runtime, which then runs the loops;
// null if there is no other.
struct ForeignThreads {
  void (*set)(int) = nullptr;
  int (*most)() = nullptr;
};

void SetHost(const GrapnelOnednnHost* host, ForeignThreads foreign);

// While a TeamScope exists, oneDNN splits its loops on this thread into at most `parts` parts,
// which run on the threads of `pool`. Without a pool, oneDNN sees the same number of threads, but
// its loops run here in one part. The destructor restores the thread count of the other runtime on
// this thread.
class TeamScope {
 public:
  static constexpr void* kNoPool = nullptr;
  TeamScope(int parts, void* pool);
  ~TeamScope();

 private:
  int parts_before_, foreign_before_ = 0;
  void* pool_before_;
};

// A parallel region in OpenMP's terms: runs `body` once per part. Within another region, or on a
// thread without a scope that has a pool, there is a single part. 0 for `parts` means as many as
// the scope allows.
void RunLoop(void (*body)(void*), void* data, int parts);
// A barrier: called within a part, returns when all parts of the loop have reached it.
void AwaitParts();

// The index of the part that runs on this thread, and the number of parts; 0 and 1 outside a loop.
int PartIndex();
int NumParts();
bool IsInLoop();  // with several parts
// The most parts of a loop that this thread starts, as oneDNN sees it: `parts` of its TeamScope, 1
// within a part. Without a pool the loop still runs in one part.
int MostParts();

}  // namespace grapnel::onednn

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_THREAD_POOL_ADAPTER_H_
