// Finds gradients whose norm is much larger than that of the weights, or grows from step to step,
// or is not finite.
#include <cmath>

#include "lib/doctor/checks/gradients.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// The gradient of a loss that is a sum over the batch is large too, and harmless with Adam, whose
// steps stay small. So a large gradient is reported only if the weights also change much in a step,
// if it exceeds kHopeless, or if it grows.
//
// Limits of a gradient's norm, as multiples of the weights' norm, which counts as at least 1.
constexpr double kLarge = 1000, kHopeless = 1e5;
constexpr double kStep = 0.1;     // limit of the weights' change in a step, relative to their norm
constexpr double kGrowth = 1000;  // limit of the growth from the first step to the last

class ExplodingGradient : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    seen_ = WatchGradients(*context.network, watches);
  }

  std::string Run(const DoctorContext& context) override {
    const SeenGradient* worst = nullptr;
    double worst_norm = 0;
    int count = 0;
    for (const auto& gradient : seen_) {
      double norm = LargestIfBad(context, *gradient);
      count += norm > 0;
      if (norm <= worst_norm) continue;
      worst = gradient.get();
      worst_norm = norm;
    }
    if (seen_.empty()) return "no gradient was found";
    if (!worst) return "";
    const VariableHistory* history = context.HistoryOf(worst->index);
    bool is_bad = std::isinf(worst_norm);
    std::string what =
        Sentence("the gradient of this variable, which '{0}' computes, {1}", worst->node.name(),
                 is_bad ? "holds NaN or infinity" : "reaches a norm of " + Short(worst_norm));
    if (!is_bad && history)
      what += ", and the norm of the variable is " + Short(history->moments[0].norm) + " at first";
    if (count > 1) what += "; that of " + Plural(count - 1, "other") + " too";
    Find(is_bad ? Confidence::kCertain : Confidence::kLikely, worst->variable->name, what,
         is_bad
             ? "grapnel blame names the op that produced the first NaN or infinity"
             : "start with smaller weights, normalize between layers, or clip gradients by norm");
    return "";
  }

 private:
  // Returns the largest norm of the gradient in any step if it should be reported (infinity if it
  // is not finite), else 0.
  static double LargestIfBad(const DoctorContext& context, const SeenGradient& gradient) {
    const VariableHistory* history = context.HistoryOf(gradient.index);
    double weights = history && !history->moments.empty() ? history->moments[0].norm : 0;
    double largest = 0;
    for (const NumberStatistics& step : gradient.steps) {
      if (step.bad() > 0) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, step.norm());
    }
    double size = std::max(weights, 1.0), step = 0;
    for (size_t i = 1; history && i < history->moments.size(); ++i)
      step = std::max(step, history->moments[i].change / size);
    bool is_large = largest > kHopeless * size || (largest > kLarge * size && step > kStep);
    bool grows = !gradient.steps.empty() && gradient.steps[0].norm() > 0 &&
                 gradient.steps.back().norm() > kGrowth * gradient.steps[0].norm() &&
                 gradient.steps.back().norm() > 10 * weights;
    return is_large || grows ? largest : 0;
  }

  std::vector<std::shared_ptr<SeenGradient>> seen_;
};

GRAPNEL_CHECK(ExplodingGradient,
              {.name = "exploding_gradient",
               .stage = CheckStage::kGradient,
               .looks_for = "a gradient far larger than its weights, growing, or not finite",
               .needs = {Evidence::kSteps}});

}  // namespace
}  // namespace grapnel
