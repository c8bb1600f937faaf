// Finds trained variables that no gradient of a loss reaches: an ArgMax, a comparison, a cast to
// integers or a StopGradient is between variable and loss, or the loss does not depend on the
// variable.
//
// Skips variables that are updated by assignments instead of an optimizer, such as moving averages
// and codebooks.
#include "lib/doctor/doctor.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns a node between the variable and the loss that stops the gradient; null if there is none,
// as when the loss does not depend on the variable.
Node WhatBlocks(const Network& network, const NetworkVariable& variable) {
  PortSet made = network.flow().Forward(variable.reads);
  PortSet before = network.flow().Backward(network.losses());
  for (const Node& node : network.nodes()) {
    for (int i = 0; i < node.num_inputs(); ++i) {
      BodyPort input(node.graph(), node.input(i));
      if (input && made.Has(input) && before.HasNode(node) && !PassesGradient(node, i)) return node;
    }
  }
  return {};
}

class LossNotConnected : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    std::vector<Unreached> groups;
    size_t count = 0;
    for (const NetworkVariable& variable : network.variables()) {
      bool is_assigned = llvm::any_of(variable.updates, [](const VariableUpdate& update) {
        return update.node.op().contains("Assign") && !update.gradient;
      });
      if (!variable.IsTrained() || variable.reads.empty() || is_assigned ||
          network.ReachesLoss(variable))
        continue;
      constexpr size_t kMost = 16;  // variables to search for: each search walks over the graph
      bool is_searched = count++ < kMost;
      Node block = is_searched ? WhatBlocks(network, variable) : Node();
      auto known = llvm::find_if(groups, [&](const Unreached& group) {
        return group.block == block && group.is_searched == is_searched;
      });
      if (known == groups.end()) known = groups.insert(known, {block, is_searched, {}});
      known->names.push_back(variable.name);
    }
    for (const Unreached& group : groups) Report(network, group);
    return network.variables().empty() ? "there are no variables" : "";
  }

 private:
  // Variables that no gradient reaches, for the same reason.
  struct Unreached {
    Node block;  // null: none was found
    bool is_searched;
    std::vector<std::string> names;
  };

  void Report(const Network& network, const Unreached& group) {
    const auto& [block, is_searched, names] = group;
    std::string losses, others;
    for (const BodyPort& loss : network.losses())
      losses += (losses.empty() ? "'" : ", '") + loss.node().name().str() + "'";
    if (names.size() > 1) others = " and " + Plural(names.size() - 1, "other");
    if (!block) {
      Find(Confidence::kLikely, names[0],
           Sentence("no gradient of {0} reaches this variable{1}{2}", losses, others,
                    is_searched ? "" : "; the op that stops it was not searched for"),
           "connect its layer, or add its own loss; set trainable=False if this is intended");
      return;
    }
    // StopGradient and PreventGradient are usually deliberate, for the other network of a GAN or a
    // target of Q-learning.
    bool is_meant = HasSuffix(block.op(), "Gradient");
    Find(
        is_meant ? Confidence::kPossible : Confidence::kLikely, names[0],
        Sentence("no gradient of {0} reaches this variable{1}: '{2}' ({3}), which has no gradient, "
                 "is in between",
                 losses, others, block.name(), block.op()),
        is_meant ? "keep it if it is intended, as for a target network; else remove it"
                 : "replace it with an op that has a gradient (softmax for argmax, a product with "
                   "probabilities for a comparison), or do not train it");
  }
};

GRAPNEL_CHECK(LossNotConnected,
              {.name = "loss_not_connected",
               .stage = CheckStage::kModel,
               .looks_for = "a trained variable that no gradient of the loss reaches",
               .needs = {Evidence::kLoss}});

}  // namespace
}  // namespace grapnel
