// Finds weights that are all zero in the last checkpoint, or whose norm grows many times from the
// first checkpoint to the last.
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"

namespace grapnel {
namespace {

constexpr double kGrowth = 20;

class WeightNorm : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    for (const VariableHistory& history : context.saved) {
      if (!history.IsWeight() || !IsFloating(history.dtype) || history.moments.empty()) continue;
      double first = history.moments.front().norm, last = history.moments.back().norm;
      if (history.is_slot || history.moments.back().bad > 0) continue;
      llvm::StringRef where(context.checkpoints.back());
      if (last == 0) {
        Find(Confidence::kLikely, history.name,
             Sentence("these weights are all zero in '{0}'", where),
             "check their initialization, and weight decay");
      } else if (first > 0 && last > kGrowth * first) {
        Find(Confidence::kLikely, history.name,
             Sentence("the norm of these weights grows from {0} in '{1}' to {2} in '{3}'",
                      Short(first), llvm::StringRef(context.checkpoints.front()), Short(last),
                      where),
             "lower the learning rate, clip gradients by norm, or use weight decay");
      }
    }
    return "";
  }
};

GRAPNEL_CHECK(WeightNorm,
              {.name = "weight_norm",
               .stage = CheckStage::kStep,
               .looks_for = "weights that are all zero in a checkpoint, or grow many times "
                            "from the first checkpoint to the last",
               .needs = {Evidence::kCheckpoints}});

}  // namespace
}  // namespace grapnel
