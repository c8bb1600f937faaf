// Checks the spread (standard deviation) of the inputs of activations: 0.5 to 2 is healthy. Reports
// the smallest and the largest spread if they are far outside of this range, for instance because
// the weights of all layers are too small or too large, so that the effect multiplies from layer to
// layer.
//
// Skips gates, the last layer, inputs that are constant, have fewer than 32 elements, or have NaN
// or infinity, and graphs that do not train.
#include "lib/doctor/activation.h"
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"

namespace grapnel {
namespace {

constexpr double kLeast = 0.01, kMost = 100;
constexpr int64_t kFewest = 32;

struct Seen {
  Activation activation;
  NumberStatistics numbers;  // of the input, in the first step
};

class ActivationSpread : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    const Network& network = *context.network;
    if (network.losses().empty() && !network.HasGradients()) return;
    for (Activation& activation : ActivationsOf(network)) {
      if (!IsHiddenActivation(network, activation)) continue;
      auto seen = std::make_shared<Seen>();
      seen->activation = std::move(activation);
      seen_.push_back(seen);
      watches.Add(seen->activation.input, [seen](int step, const Tensor& value) {
        if (step == 0) seen->numbers += StatisticsOf(value);
      });
    }
  }

  std::string Run(const DoctorContext& context) override {
    const Seen *small = nullptr, *large = nullptr;
    int count = 0;
    for (const auto& seen : seen_) {
      double spread = seen->numbers.deviation();
      if (seen->numbers.elements() < kFewest || seen->numbers.bad() > 0 || spread == 0) continue;
      bool is_far = spread < kLeast || spread > kMost;
      count += is_far;
      if (spread < kLeast && (!small || spread < small->numbers.deviation())) small = seen.get();
      if (spread > kMost && (!large || spread > large->numbers.deviation())) large = seen.get();
    }
    const Network& network = *context.network;
    if (network.losses().empty() && !network.HasGradients()) return "the graph does not train";
    if (seen_.empty()) return "there is no activation between layers";
    for (const Seen* seen : {small, large}) {
      if (!seen) continue;
      std::string what = Sentence("the input of this {0} has a spread of {1} (0.5 to 2 is healthy)",
                                  seen->activation.name, Short(seen->numbers.deviation()));
      if (count > 1) what += Sentence("; {0} of {1} activations are far off", count, seen_.size());
      Find(Confidence::kLikely, seen->activation.node, what,
           seen == small ? "start with larger weights (Glorot, or He before a Relu), or normalize "
                           "between layers"
                         : "start with smaller weights, scale the inputs, or normalize between "
                           "layers");
    }
    return "";
  }

 private:
  std::vector<std::shared_ptr<Seen>> seen_;
};

GRAPNEL_CHECK(ActivationSpread,
              {.name = "activation_spread",
               .stage = CheckStage::kActivation,
               .looks_for = "activations whose inputs have a spread far outside of 0.5 to 2",
               .needs = {Evidence::kValues}});

}  // namespace
}  // namespace grapnel
