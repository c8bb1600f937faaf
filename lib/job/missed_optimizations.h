// A job: what optimizing leaves undone, and why.
#ifndef GRAPNEL_LIB_JOB_MISSED_OPTIMIZATIONS_H_
#define GRAPNEL_LIB_JOB_MISSED_OPTIMIZATIONS_H_

#include <string>
#include <vector>

#include "lib/job/optimize.h"

namespace grapnel {

struct MissedOptimizations {
  std::vector<Refusal> refusals;
  // What was refused on the way: something else may have been made of it.
  std::vector<Refusal> intermediate;
  int rewrites = 0;  // that rules asked about made
  std::string assumed;
};

// What is left undone when the passes are through (Optimized::near_misses). Of one rule
// ("pass/rule", "rule", "pass") or, where `rule` is empty, of all. `opened` holds the result.
// Errors: Optimize's.
Expected<MissedOptimizations> FindMissedOptimizations(OpenedGraph& opened, OptimizeRequest request,
                                    llvm::StringRef rule = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MISSED_OPTIMIZATIONS_H_
