// A cross-entropy that is what guessing gives, ln(classes), and stays so for five steps that change
// weights.
//
// Says nothing of two classes: the losses of a GAN are there when all is well.
#include <cmath>

#include "lib/check/doctor/cross_entropy.h"
#include "lib/check/doctor/doctor.h"
#include "lib/check/doctor/numbers.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr int kFewestSteps = 5;
constexpr double kNear = 0.02;   // of ln(classes)
constexpr double kFall = 0.002;  // of it, from the first step to the last

struct Seen {
  Node node;
  int64_t classes = 0;
  std::vector<double> means;  // by step
};

class LossAtChance : public Check {
 public:
  void Watch(const Patient& patient, Watchlist& watchlist) override {
    for (const CrossEntropy& loss : CrossEntropiesOf(*patient.network)) {
      if (loss.kind == CrossEntropy::kBinary) continue;
      auto seen = std::make_shared<Seen>();
      seen->node = loss.node;
      seen_.push_back(seen);
      watchlist.Add(patient.network->flow().Source(loss.logits), [seen](int, const Tensor& value) {
        if (value.rank() > 0) seen->classes = value.dim(value.rank() - 1);
      });
      watchlist.Add({loss.node, 0}, [seen](int, const Tensor& value) {
        seen->means.push_back(TallyOf(value).mean());
      });
    }
  }

  std::string Look(const Patient& patient) override {
    if (seen_.empty()) return "there is no cross-entropy of classes";
    if (patient.steps < kFewestSteps) return Lacks("needs five steps: --steps");
    for (const auto& seen : seen_) {
      if (seen->classes < 3 || static_cast<int>(seen->means.size()) < kFewestSteps) continue;
      double chance = std::log(static_cast<double>(seen->classes));
      bool is_near = true;
      for (double mean : seen->means) is_near &= std::abs(mean - chance) < kNear * chance;
      double fall = seen->means.front() - seen->means.back();
      if (!is_near || fall > kFall * chance) continue;
      Find(Sureness::kLikely, seen->node,
           Sentence("the loss is {0} after {1}, and guessing among {2} classes gives ln({2}) = {3}",
                    Short(seen->means.back()), Plural(patient.steps, "step"), seen->classes,
                    Short(chance)),
           "look whether logits depend on the input, whether labels belong to these rows, and at "
           "the learning rate");
    }
    return "";
  }

 private:
  std::vector<std::shared_ptr<Seen>> seen_;
};

GRAPNEL_CHECK(LossAtChance, {.name = "loss_at_chance",
                             .stage = CheckStage::kStep,
                             .looks_for = "a cross-entropy that stays what guessing gives",
                             .needs = {Evidence::kSteps}});

}  // namespace
}  // namespace grapnel
