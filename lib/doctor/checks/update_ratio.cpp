// Checks the change of weights in a step, relative to their norm: about 1e-3 is usual.
//
// Skips vectors and biases, and weights that start as zeros.
#include <algorithm>

#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr double kLeast = 1e-5, kMost = 0.3;

struct Ratios {
  // The median and the largest, over all steps, of the change of the variable divided by its norm
  // before the step. 0: no change, or nothing to compare with, as for a variable that starts at 0.
  double middle = 0, most = 0;
  bool grow = false;  // ratios grow, as in a branch whose scale starts at zero
};

Ratios RatiosOf(const VariableHistory& history) {
  std::vector<double> ratios;
  for (size_t i = 1; i < history.moments.size(); ++i) {
    double norm = history.moments[i - 1].norm;
    if (norm > 0) ratios.push_back(history.moments[i].change / norm);
  }
  Ratios made;
  if (ratios.empty() || history.moments[0].norm == 0) return made;
  made.grow = ratios.back() > 2 * ratios.front();
  std::sort(ratios.begin(), ratios.end());
  made.middle = ratios[ratios.size() / 2];
  made.most = ratios.back();
  return made;
}

class UpdateRatio : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const VariableHistory *least = nullptr, *most = nullptr;
    double low = kLeast, high = kMost;
    int small = 0, large = 0;
    for (const VariableHistory& history : context.variables) {
      if (history.variable < 0 || !history.IsWeight() || !IsFloating(history.dtype)) continue;
      const NetworkVariable& variable = context.network->variables()[history.variable];
      if (!variable.IsTrained() || variable.is_bias) continue;
      Ratios ratios = RatiosOf(history);
      bool is_small = ratios.most > 0 && ratios.most < kLeast && !ratios.grow;
      small += is_small;
      large += ratios.middle > kMost;
      if (is_small && ratios.most < low) least = &history, low = ratios.most;
      if (ratios.middle > high) most = &history, high = ratios.middle;
    }
    if (least)
      Report(*least, low, small, "barely change (this is the largest step)",
             "raise the learning rate, or find out why the gradient is so small");
    if (most)
      Report(*most, high, large, "jump around (this is the median step)",
             "lower the learning rate, or clip gradients by norm");
    return "";
  }

 private:
  void Report(const VariableHistory& history, double ratio, int count, const char* effect,
              const char* advice) {
    std::string what =
        Sentence("a step changes these weights by {0} of their norm ({1} is usual): they {2}",
                 Short(ratio), "1e-3", effect);
    if (count > 1) what += "; " + Plural(count - 1, "other") + " too";
    Find(Confidence::kLikely, history.name, what, advice);
  }
};

GRAPNEL_CHECK(UpdateRatio, {.name = "update_ratio",
                            .stage = CheckStage::kStep,
                            .looks_for = "steps that change weights by far more or less than a "
                                         "thousandth of their norm",
                            .needs = {Evidence::kSteps}});

}  // namespace
}  // namespace grapnel
