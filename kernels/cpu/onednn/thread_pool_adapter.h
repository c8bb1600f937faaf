// Who runs oneDNN's loops: the program's pool, or the OpenMP runtime that the process already has.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_

#include "kernels/cpu/nn/onednn_api.h"

namespace grapnel::onednn {

// omp_set_num_threads and omp_get_max_threads of another OpenMP runtime, which runs the loops then;
// null where there is none.
struct ForeignThreads {
  void (*set)(int) = nullptr;
  int (*most)() = nullptr;
};

void SetHost(const GrapnelOnednnHost* host, ForeignThreads foreign);

// While it lives, oneDNN cuts its loops on this thread into at most `parts` parts, which run on the
// threads of `pool`. With no pool it is told of as many, but its loops run here in one. Another
// runtime has on this thread the number that it had, afterwards.
class TeamScope {
 public:
  static constexpr void* kNoPool = nullptr;
  TeamScope(int parts, void* pool);
  ~TeamScope();

 private:
  int parts_before_, foreign_before_ = 0;
  void* pool_before_;
};

// What OpenMP calls a parallel region: `body` runs once for each part. Within another one, or on a
// thread that no scope covers, it is one part. 0: as many as the scope says.
void RunLoop(void (*body)(void*), void* data, int parts);
// Within a part: returns when all parts of the loop have come here.
void AwaitParts();

// Of the part that runs on this thread: its index, of how many; 0 of 1 outside of a loop.
int PartIndex();
int NumParts();
bool IsInLoop();  // of several parts
int MostParts();  // of a loop that begins here

}  // namespace grapnel::onednn

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_
