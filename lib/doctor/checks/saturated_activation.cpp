// Finds a Tanh or Sigmoid between layers whose outputs are nearly all at the ends of its range,
// where its gradient is almost zero.
//
// Skips gates (activations whose outputs are multiplied), the Tanh in a GELU, and the last layer.
#include <cmath>

#include "lib/doctor/activation.h"
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"

namespace grapnel {
namespace {

constexpr double kTanhEnd = 0.99, kSigmoidEnd = 0.01;
constexpr double kShare = 0.8;
constexpr int64_t kFewest = 32;

struct Seen {
  Node node;
  int64_t elements = 0, at_end = 0;
};

class SaturatedActivation : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    for (const Activation& activation : ActivationsOf(*context.network)) {
      bool is_tanh = activation.name == "Tanh";
      if (!is_tanh && activation.name != "Sigmoid") continue;
      if (!IsHiddenActivation(*context.network, activation)) continue;
      auto seen = std::make_shared<Seen>();
      seen->node = activation.node;
      seen_.push_back(seen);
      watches.Add(activation.output(), [seen, is_tanh](int, const Tensor& value) {
        ForEachNumber(value, [&](double x) {
          ++seen->elements;
          seen->at_end += is_tanh ? std::abs(x) > kTanhEnd : x < kSigmoidEnd || x > 1 - kSigmoidEnd;
        });
      });
    }
  }

  std::string Run(const DoctorContext&) override {
    for (const auto& seen : seen_) {
      double share = seen->elements ? static_cast<double>(seen->at_end) / seen->elements : 0;
      if (seen->elements < kFewest || share < kShare) continue;
      Find(Confidence::kLikely, seen->node,
           Sentence("{0} of the results of this {1} are at the ends of its range ({2}), where it "
                    "passes almost no "
                    "gradient back",
                    Percent(share), seen->node.op(),
                    seen->node.op() == "Tanh" ? "beyond 0.99" : "below 0.01 or above 0.99"),
           "start with smaller weights (Glorot), scale the inputs, or normalize before it");
    }
    return seen_.empty() ? "there is no Tanh or Sigmoid between layers" : "";
  }

 private:
  std::vector<std::shared_ptr<Seen>> seen_;
};

GRAPNEL_CHECK(SaturatedActivation,
              {.name = "saturated_activation",
               .stage = CheckStage::kActivation,
               .looks_for = "a Tanh or Sigmoid between layers that is saturated",
               .needs = {Evidence::kValues}});

}  // namespace
}  // namespace grapnel
