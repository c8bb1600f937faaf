// Finds, in the scalars that a training wrote, a loss that never falls, a loss that rises again,
// and a loss that falls on training data but rises in validation.
//
// Skips terms of a loss, adversarial losses, and curves with fewer than five records. A loss that
// never falls is not reported if the log begins in the middle of a training, or if the accuracy
// rises or is high.
#include <algorithm>

#include "lib/doctor/doctor.h"
#include "lib/doctor/loss_curves.h"
#include "lib/doctor/numbers.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr double kFall = 0.005;      // least fall that counts, relative to the first loss
constexpr double kNoisyFall = 0.02;  // the most noise that counts, relative to the first loss
// Least rise of the last loss: above the first loss, relative to the first; above the lowest loss,
// relative to the lowest.
constexpr double kRise = 0.2;
constexpr double kOfTheFall = 0.25;  // least rise from the lowest loss, relative to the fall to it
constexpr double kLearns = 0.02, kHigh = 0.9;

// True if the loss falls by no more than noise between batches can explain: of the medians of five
// windows, neither the lowest nor the last is clearly below the first.
bool NeverFalls(const CurveShape& shape) {
  double noise = std::min(shape.noise, kNoisyFall * shape.first);
  return shape.first - shape.lowest < std::max(kFall * shape.first, 2.5 * noise) &&
         shape.first - shape.last < std::max(kFall * shape.first, noise);
}

// True if the accuracy rises or is high; then a constant loss is not reported.
bool Learns(const LossCurve& curve) {
  if (!curve.accuracy) return false;
  CurveShape accuracy = ShapeOf(*curve.accuracy);
  return accuracy.last > kHigh || accuracy.last - accuracy.first > kLearns;
}

class LossOverTraining : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    std::vector<LossCurve> curves = LossCurvesOf(*context.scalars, context.loss_tag);
    if (curves.empty()) return Lacks("no scalar is named a loss: --loss TAG");
    bool looked = false;
    for (const LossCurve& curve : curves) {
      CurveShape shape = ShapeOf(*curve.series);
      if (!curve.is_whole || shape.records < kFewestRecords) continue;
      looked = true;
      if (curve.is_validation)
        CheckValidation(curves, curve, shape);
      else
        CheckTraining(curve, shape);
    }
    return looked ? "" : Lacks("needs five records of one loss");
  }

 private:
  void CheckTraining(const LossCurve& curve, const CurveShape& shape) {
    std::string name = curve.series->name();
    if (shape.first <= 0) return;  // a log density, a reward: its ratios have no meaning
    double rise = shape.last - shape.lowest;
    if (shape.last > (1 + kRise) * shape.first) {
      Find(Confidence::kLikely, name,
           Sentence("the loss rises: from {0} to {1} over {2}", Short(shape.first),
                    Short(shape.last), Plural(shape.records, "record")),
           "lower the learning rate, clip gradients by norm, and check the sign of the loss");
    } else if (!shape.ends_lowest && rise > kRise * shape.lowest &&
               rise > kOfTheFall * (shape.first - shape.lowest)) {
      Find(Confidence::kLikely, name,
           Sentence("the loss is lowest at step {0}, with {1}, and has risen to {2} since",
                    shape.lowest_at, Short(shape.lowest), Short(shape.last)),
           "lower the learning rate from there on, or clip gradients by norm");
    } else if (shape.is_from_start && NeverFalls(shape) && !Learns(curve)) {
      Find(Confidence::kLikely, name,
           Sentence(
               "the loss never falls: {0} at first, {1} at the end, {2} at its lowest, over {3}",
               Short(shape.first), Short(shape.last), Short(shape.lowest),
               Plural(shape.records, "record")),
           "run grapnel doctor on the training step: a learning rate of zero, a loss that no "
           "gradient reaches, inputs that are all equal");
    }
  }

  // Reports overfitting: the loss rises in validation while it falls in training.
  void CheckValidation(llvm::ArrayRef<LossCurve> all, const LossCurve& curve,
                       const CurveShape& shape) {
    double rise = shape.last - shape.lowest;
    bool rises = shape.lowest > 0 && !shape.ends_lowest && rise > kRise * shape.lowest &&
                 rise > kOfTheFall * (shape.first - shape.lowest);
    if (!rises) return;
    for (const LossCurve& other : all) {
      if (other.is_validation || !other.is_whole) continue;
      CurveShape trained = ShapeOf(*other.series);
      if (trained.records < kFewestRecords || !trained.ends_lowest) continue;
      Find(Confidence::kPossible, curve.series->name(),
           Sentence("the loss is lowest at step {0}, with {1}, and has risen to {2} since, while "
                    "'{3}' keeps falling to {4}: the network overfits",
                    shape.lowest_at, Short(shape.lowest), Short(shape.last), other.series->name(),
                    Short(trained.last)),
           "stop there, or use more data, fewer weights, dropout or a weight penalty");
      return;
    }
  }
};

GRAPNEL_CHECK(LossOverTraining, {.name = "loss_curve",
                                 .stage = CheckStage::kStep,
                                 .looks_for = "a loss that never falls over a training, or rises",
                                 .needs = {Evidence::kScalars}});

}  // namespace
}  // namespace grapnel
