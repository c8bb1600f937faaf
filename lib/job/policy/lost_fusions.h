// What `opt` fuses in one model and not in another. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_POLICY_LOST_FUSIONS_H_
#define GRAPNEL_LIB_JOB_POLICY_LOST_FUSIONS_H_

#include <vector>

#include "lib/job/policy/checked_model.h"

namespace grapnel {

// Of nodes that both models have, as `changes` (from `base`) pairs them: what is gone from the
// model is no lost fusion. The reason is what `passes --why-not` says of these nodes, or the diff.
// Cost: both are optimized. Errors: Optimize's.
Expected<std::vector<LostFusion>> FindLostFusions(const OpenedGraph& base, const OpenedGraph& model,
                                                  const Diff& changes, OneDnn onednn,
                                                  ThreadPool* pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_LOST_FUSIONS_H_
