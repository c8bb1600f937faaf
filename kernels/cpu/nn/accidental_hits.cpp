// ComputeAccidentalHits: true classes among the randomly sampled candidates.
#include <cfloat>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

// For each hit, outputs the row of the true class, the position of the candidate, and the weight
// that removes the candidate from a loss.
Expected<KernelFn> MakeHits(const KernelSetup& setup) {
  return KernelFn([count = setup.node().GetInt("num_true")](KernelContext& ctx) -> Error {
    const Tensor &classes = ctx.input(0), &drawn = ctx.input(1);
    if (classes.rank() != 2 || classes.dim(1) != count || drawn.rank() != 1)
      return MakeError(
          "expected true_classes [batch, {0}] and a vector of candidates, got shapes "
          "{1} and {2}",
          count, DimsText(classes.dims()), DimsText(drawn.dims()));
    std::unordered_map<int64_t, int64_t> places;
    for (int64_t i = 0; i < drawn.num_elements(); ++i) places[drawn.data<int64_t>()[i]] = i;
    std::vector<std::pair<int64_t, int64_t>> hits;
    for (int64_t i = 0; i < classes.num_elements(); ++i) {
      auto place = places.find(classes.data<int64_t>()[i]);
      if (place != places.end()) hits.emplace_back(i / count, place->second);
    }
    auto n = static_cast<int64_t>(hits.size());
    ASSIGN_OR_RETURN(Tensor * rows, ctx.Allocate(0, {n}));
    ASSIGN_OR_RETURN(Tensor * ids, ctx.Allocate(1, {n}));
    ASSIGN_OR_RETURN(Tensor * weights, ctx.Allocate(2, {n}));
    for (int64_t i = 0; i < n; ++i) {
      rows->data<int32_t>()[i] = static_cast<int32_t>(hits[i].first);
      ids->data<int64_t>()[i] = hits[i].second;
      weights->data<float>()[i] = -FLT_MAX;
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("ComputeAccidentalHits", MakeHits);

}  // namespace
}  // namespace grapnel
