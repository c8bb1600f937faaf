// Finds weights whose gradient is zero everywhere, in every step.
//
// Skips vectors: the gradient of a bias before a normalization is rightly zero.
#include "lib/doctor/checks/gradients.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

class ZeroGradient : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    seen_ = WatchGradients(*context.network, watches);
  }

  std::string Run(const DoctorContext& context) override {
    const SeenGradient* first = nullptr;
    size_t count = 0;
    for (const auto& gradient : seen_) {
      const VariableHistory* history = context.HistoryOf(gradient->index);
      NumberStatistics all;
      for (const NumberStatistics& step : gradient->steps) all += step;
      if (!history || !history->IsWeight() || all.elements() < 2 || all.zero < all.elements())
        continue;
      if (!first) first = gradient.get();
      ++count;
    }
    if (first) {
      std::string others = count > 1 ? ", that of " + Plural(count - 1, "other") + " too" : "";
      Find(Confidence::kLikely, first->variable->name,
           Sentence("the gradient of these weights ('{0}') is zero everywhere in all {1}{2}",
                    first->node.name(), Plural(context.steps, "step"), others),
           "check the path from the loss: a Relu that is never above zero, a product with "
           "zeros, a clip or minimum that cuts everything");
    }
    return seen_.empty() ? "no gradient was found" : "";
  }

 private:
  std::vector<std::shared_ptr<SeenGradient>> seen_;
};

GRAPNEL_CHECK(ZeroGradient, {.name = "zero_gradient",
                             .stage = CheckStage::kGradient,
                             .looks_for = "weights whose gradient is zero in every step",
                             .needs = {Evidence::kSteps}});

}  // namespace
}  // namespace grapnel
