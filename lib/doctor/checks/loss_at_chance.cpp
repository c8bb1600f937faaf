// Finds a cross-entropy that stays near ln(classes), the value for random guessing, in all of five
// or more steps, while the logits are almost the same for every row.
//
// All networks start near this value; equal logits distinguish a network that cannot learn from one
// that starts slowly. Skips cross-entropies of two classes, since the losses of a healthy GAN stay
// there. In the scalars of a training, which have no logits, an accuracy near 1 / classes decides
// instead; without an accuracy, a loss within 0.2 % of ln(classes), for at most 20 classes.
#include <cmath>

#include "lib/doctor/cross_entropy.h"
#include "lib/doctor/doctor.h"
#include "lib/doctor/loss_curves.h"
#include "lib/doctor/numbers.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr int kFewestSteps = 5;
// The most that the loss may differ from ln(classes), relative to it.
constexpr double kNear = 0.02;
// The most that the loss may fall from the first step to the last, relative to ln(classes). In
// scalars without an accuracy, also the most that the loss may differ from ln(classes).
constexpr double kFall = 0.002;
constexpr double kAlike = 1e-5;  // the most that the logits of a class may differ between rows

// For scalars: the largest number of classes for which a log without an accuracy is judged, and how
// far the accuracy may be from 1 / classes, relative to it.
constexpr double kMostWithoutAccuracy = 20, kAccuracyNear = 0.5;

struct Seen {
  Node node;
  int64_t classes = 0, rows = 0;
  double range = 0;           // largest range of a class's logits, in the last step
  std::vector<double> means;  // by step: mean loss
};

class LossAtChance : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    for (const CrossEntropy& loss : CrossEntropiesOf(*context.network)) {
      if (loss.kind == CrossEntropy::kBinary) continue;
      auto seen = std::make_shared<Seen>();
      seen->node = loss.node;
      seen_.push_back(seen);
      watches.Add(context.network->flow().Source(loss.logits),
                  [seen](int, const Tensor& value) { CheckLogits(value, *seen); });
      watches.Add({loss.node, 0}, [seen](int, const Tensor& value) {
        seen->means.push_back(StatisticsOf(value).mean());
      });
    }
  }

  std::string Run(const DoctorContext& context) override {
    if (context.scalars) return CheckScalars(context);
    if (seen_.empty()) return "there is no cross-entropy of classes";
    if (context.steps < kFewestSteps) return Lacks("needs five steps: --steps");
    for (const auto& seen : seen_) {
      if (seen->classes < 3 || seen->rows < 2 ||
          static_cast<int>(seen->means.size()) < kFewestSteps)
        continue;
      double chance = std::log(static_cast<double>(seen->classes));
      bool is_near = true;
      for (double mean : seen->means) is_near &= std::abs(mean - chance) < kNear * chance;
      double fall = seen->means.front() - seen->means.back();
      if (!is_near || fall > kFall * chance || seen->range > kAlike) continue;
      Find(
          Confidence::kLikely, seen->node,
          Sentence("the loss is {0} after {1}, and guessing among {2} classes gives ln({2}) = {3}; "
                   "logits are almost the same for every row",
                   Short(seen->means.back()), Plural(context.steps, "step"), seen->classes,
                   Short(chance)),
          "check the path from the input to the logits: a dead layer, weights of zero, a "
          "factor "
          "that is far too small");
    }
    return "";
  }

 private:
  // Checks the scalars that a training logged. Takes exp(loss) as the number of classes, and
  // reports a constant loss only if the accuracy, where it is logged, is near 1 / classes.
  std::string CheckScalars(const DoctorContext& context) {
    bool looked = false;
    for (const LossCurve& curve : LossCurvesOf(*context.scalars, context.loss_tag)) {
      CurveShape shape = ShapeOf(*curve.series);
      if (!curve.is_whole || curve.is_validation || shape.records < kFewestRecords) continue;
      looked = true;
      double classes = std::round(std::exp(std::min(shape.last, 20.0)));
      bool has_accuracy = curve.accuracy && !curve.accuracy->points.empty();
      if (classes < 3 || (!has_accuracy && classes > kMostWithoutAccuracy)) continue;
      double chance = std::log(classes), near = (has_accuracy ? kNear : kFall) * chance;
      bool is_near = true;
      for (const ScalarPoint& point : curve.series->points)
        is_near &= std::abs(point.value - chance) < near;
      double accuracy = has_accuracy ? ShapeOf(*curve.accuracy).last : 1 / classes;
      bool guesses = std::abs(accuracy - 1 / classes) < kAccuracyNear / classes;
      if (!is_near || !guesses || shape.first - shape.last > kFall * chance) continue;
      std::string what = Sentence(
          "the loss stays at {0}, and guessing among {1} classes gives "
          "ln({1}) = {2}",
          Short(shape.last), static_cast<int64_t>(classes), Short(chance));
      if (has_accuracy) what += Sentence("; the accuracy is {0}", Short(accuracy));
      Find(Confidence::kLikely, curve.series->name(), what,
           "run grapnel doctor on the training step: a dead layer, weights of zero, labels that "
           "belong to other rows");
    }
    return looked ? "" : Lacks("needs five records of one loss");
  }

  static void CheckLogits(const Tensor& logits, Seen& seen) {
    if (logits.rank() == 0 || logits.num_elements() == 0) return;
    seen.classes = logits.dim(logits.rank() - 1);
    seen.rows = logits.num_elements() / seen.classes;
    std::vector<std::pair<double, double>> ends;  // by class: least and largest logit
    int64_t at = 0;
    ForEachNumber(logits, [&](double x) {
      if (static_cast<int64_t>(ends.size()) < seen.classes) ends.emplace_back(x, x);
      ends[at].first = std::min(ends[at].first, x);
      ends[at].second = std::max(ends[at].second, x);
      if (++at == seen.classes) at = 0;
    });
    seen.range = 0;
    for (const auto& [least, most] : ends) seen.range = std::max(seen.range, most - least);
  }

  std::vector<std::shared_ptr<Seen>> seen_;
};

GRAPNEL_CHECK(LossAtChance,
              {.name = "loss_at_chance",
               .stage = CheckStage::kStep,
               .looks_for = "a cross-entropy that stays at the value of random guessing",
               .needs = {Evidence::kSteps, Evidence::kScalars}});

}  // namespace
}  // namespace grapnel
