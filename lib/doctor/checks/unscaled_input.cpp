// Finds inputs with large numbers that a layer reads unscaled: bytes of an image, years, prices.
//
// Skips inputs that are transformed before the layer, layers whose output is normalized, and graphs
// that do not train.
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"

namespace grapnel {
namespace {

constexpr double kLargest = 20, kSpread = 5;  // larger means or spreads are reported

// Returns a layer that reads the input directly or through casts, reshapes and the like; null if no
// layer does.
const WeightedOp* WeightedOpThatReads(const Network& network, const BodyPort& input) {
  std::vector<BodyPort> open = {input};
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const auto& [reader, slot] : network.flow().Readers(at)) {
      const WeightedOp* layer = network.WeightedOpOf(reader);
      if (layer && slot == layer->input_slot) return layer;
      llvm::StringRef op = reader.op();
      bool hands_on = op == "Identity" || op == "Cast" || op == "Reshape" || op == "Transpose" ||
                      op == "ExpandDims" || op == "Squeeze" || op == "Pad" || op == "ConcatV2";
      BodyPort made(reader, 0);
      if (hands_on && seen.Insert(made)) open.push_back(made);
    }
  }
  return nullptr;
}

class UnscaledInput : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    const std::vector<BodyPort>& inputs = context.network->inputs();
    seen_.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      watches.Add(inputs[i],
                  [this, i](int, const Tensor& value) { seen_[i] += StatisticsOf(value); });
  }

  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    if (network.losses().empty() && !network.HasGradients()) return "the graph does not train";
    for (size_t i = 0; i < seen_.size(); ++i) {
      const NumberStatistics& seen = seen_[i];
      double largest = std::max(std::abs(seen.min), std::abs(seen.max));
      bool is_large = seen.elements() > 1 && largest > kLargest &&
                      (seen.deviation() > kSpread || std::abs(seen.mean()) > kLargest);
      const WeightedOp* layer =
          is_large ? WeightedOpThatReads(network, network.inputs()[i]) : nullptr;
      if (!layer || network.IsNormalized(layer->output())) continue;
      Find(Confidence::kLikely, network.inputs()[i].node(),
           Sentence("this input goes from {0} to {1} (mean {2}, spread {3}), and '{4}' reads it "
                    "unscaled",
                    Short(seen.min), Short(seen.max), Short(seen.mean()), Short(seen.deviation()),
                    layer->node.name()),
           "subtract the mean and divide by the spread; for image bytes, divide by 255");
    }
    return "";
  }

 private:
  std::vector<NumberStatistics> seen_;
};

GRAPNEL_CHECK(UnscaledInput, {.name = "unscaled_input",
                              .stage = CheckStage::kInput,
                              .looks_for = "an input of large numbers that a layer reads unscaled",
                              .needs = {Evidence::kValues}});

}  // namespace
}  // namespace grapnel
