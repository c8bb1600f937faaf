// Who runs oneDNN's loops: the program's pool, or the OpenMP runtime that the process already has.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_

#include "kernels/cpu/nn/onednn_api.h"

namespace grapnel::onednn {

// `set_threads`: tells another OpenMP runtime, which runs the loops then, how many threads to use;
// null where there is none.
void SetHost(const GrapnelOnednnHost* host, void (*set_threads)(int));

// While it lives, oneDNN cuts its loops on this thread into at most `parts` parts, which run on the
// threads of `pool`. With no pool it is told of as many, but its loops run here in one.
class TeamScope {
 public:
  static constexpr void* kNoPool = nullptr;
  TeamScope(int parts, void* pool);
  ~TeamScope();

 private:
  int parts_before_;
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
