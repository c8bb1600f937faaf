// Who runs oneDNN's parallel loops: the program's pool, or the OpenMP runtime that the process
// already has.
#ifndef GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_
#define GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_

#include "kernels/cpu/nn/onednn_api.h"

namespace grapnel::onednn {

void SetHost(const GrapnelOnednnHost* host);

// While it lives, oneDNN's loops on this thread use at most `threads` threads of `pool`. With no
// pool oneDNN is told of as many threads, but its loops run on this one.
class TeamScope {
 public:
  static constexpr void* kNoPool = nullptr;
  TeamScope(int threads, void* pool);
  ~TeamScope();

 private:
  int threads_before_;
  void* pool_before_;
};

}  // namespace grapnel::onednn

#endif  // GRAPNEL_KERNELS_CPU_ONEDNN_TEAM_H_
