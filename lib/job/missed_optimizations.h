// A job: finds the optimizations that the passes miss, and why.
#ifndef GRAPNEL_LIB_JOB_MISSED_OPTIMIZATIONS_H_
#define GRAPNEL_LIB_JOB_MISSED_OPTIMIZATIONS_H_

#include <string>
#include <vector>

#include "lib/job/made_nodes.h"
#include "lib/job/optimize.h"

namespace grapnel {

struct MissedOptimizations {
  std::vector<Refusal> refusals;
  // Rules' refusals to rewrite nodes while the passes ran; later rewrites may have optimized these
  // nodes after all.
  std::vector<Refusal> intermediate;
  int rewrites = 0;  // rewrites that the requested rules made
  std::string assumed;
  MadeNodes made;  // by all rules
};

// Returns the rewrites that rules refuse in the optimized graph (Optimized::near_misses): those of
// the rules that `rule` names ("pass/rule", "rule", "pass") or, if it is empty, of all rules.
// Afterwards `opened` holds the optimized graph. Errors: those of Optimize; a failing pass.
Expected<MissedOptimizations> FindMissedOptimizations(OpenedGraph& opened, OptimizeRequest request,
                                                      llvm::StringRef rule = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MISSED_OPTIMIZATIONS_H_
