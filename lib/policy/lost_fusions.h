// Fusions that `opt` performs in one model and not in another. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_LOST_FUSIONS_H_
#define GRAPNEL_LIB_POLICY_LOST_FUSIONS_H_

#include <vector>

#include "lib/policy/checked_model.h"

namespace grapnel {

// Finds fusions in `base` of nodes that are in both models, as `changes` (the diff from `base`)
// pairs them, but are not fused in `model`. A removed node is not a lost fusion, unless new nodes
// that are not fused read the other nodes of its fusion. The reason is a refusal of these nodes by
// a rule (as `opt --why-not` lists them), else their change in the diff, if there is one.
// `without`: passes and rules that do not run. Cost: optimizes both. Errors: those of Optimize.
Expected<std::vector<LostFusion>> FindLostFusions(const OpenedGraph& base, const OpenedGraph& model,
                                                  const Diff& changes, OneDnn onednn,
                                                  const std::vector<std::string>& without,
                                                  ThreadPool* pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_LOST_FUSIONS_H_
