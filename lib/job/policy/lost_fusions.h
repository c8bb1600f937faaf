// Fusions that `opt` performs in one model and not in another. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_POLICY_LOST_FUSIONS_H_
#define GRAPNEL_LIB_JOB_POLICY_LOST_FUSIONS_H_

#include <vector>

#include "lib/job/policy/checked_model.h"

namespace grapnel {

// Considers nodes in both models, as `changes` (from `base`) pairs them: a node that was removed is
// not a lost fusion. The reason comes from `passes --why-not` for these nodes, or from the diff.
// Cost: optimizes both. Errors: Optimize's.
Expected<std::vector<LostFusion>> FindLostFusions(const OpenedGraph& base, const OpenedGraph& model,
                                                  const Diff& changes, OneDnn onednn,
                                                  ThreadPool* pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_LOST_FUSIONS_H_
