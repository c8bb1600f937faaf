// Finds dropout in an inference graph: a random mask that is applied to values that depend on the
// input. Skips graphs without layers.
//
//   RandomUniform -> GreaterEqual -> (Cast -> Mul | Select) <- x
#include "lib/doctor/doctor.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsUniform(llvm::StringRef op) {
  return op == "RandomUniform" || op == "StatelessRandomUniform" ||
         op == "StatelessRandomUniformV2" || op == "StatefulUniform";
}

// Returns the Mul or Select that applies a mask made from the random numbers of `random`; null if
// no mask is made from them.
Node MaskAt(const Network& network, const Node& random) {
  std::vector<BodyPort> open = {{random, 0}};
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const auto& [reader, slot] : network.flow().Readers(at)) {
      llvm::StringRef op = reader.op();
      bool is_bool = at.node().op().contains("Greater") || at.node().op().contains("Less") ||
                     at.node().op() == "Floor" || at.node().op() == "Cast";
      if (is_bool && (op == "Mul" || ((op == "Select" || op == "SelectV2") && slot == 0)))
        return reader;
      bool goes_on = op == "GreaterEqual" || op == "Greater" || op == "Less" || op == "LessEqual" ||
                     op == "Floor" || op == "Cast" || op == "Add" || op == "AddV2" || op == "Sub" ||
                     op == "Mul" || op == "Identity";
      BodyPort made(reader, 0);
      if (goes_on && seen.Insert(made)) open.push_back(made);
    }
  }
  return {};
}

bool IsOfInputs(const Network& network, const Node& mask) {
  PortSet before = network.flow().Backward({{mask, 0}}, PassesValue);
  return llvm::any_of(network.inputs(), [&](const BodyPort& input) { return before.Has(input); });
}

class DropoutMode : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    bool has_random = false;
    bool predicts = !network.Trains() && !network.HasGradients() && network.losses().empty();
    for (const Node& node : network.nodes()) {
      if (!IsUniform(node.op())) continue;
      has_random = true;
      Node mask = predicts ? MaskAt(network, node) : Node();
      if (!mask || network.weighted_ops().empty() || !IsOfInputs(network, mask)) continue;
      Find(
          Confidence::kLikely, mask,
          Sentence(
              "this inference graph sets numbers to zero at random (dropout): '{0}' draws the mask",
              node.name()),
          "call the model with training=False, or export it again in that mode");
    }
    return has_random ? "" : "nothing is random";
  }
};

GRAPNEL_CHECK(DropoutMode, {.name = "dropout_mode",
                            .stage = CheckStage::kModel,
                            .looks_for = "dropout in an inference graph",
                            .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
