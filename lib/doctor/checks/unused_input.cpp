// Finds inputs whose values do not affect any fetch, assignment, print or assertion.
#include "lib/doctor/doctor.h"
#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsInput(const Node& node) {
  return HasPrefix(node.op(), "Placeholder") && node.GetType("dtype") != proto::DT_RESOURCE;
}

// Returns the fetches; if there are none, all outputs of those main-graph nodes that have no
// readers.
std::vector<BodyPort> Results(const Network& network) {
  if (!network.ends().fetches.empty()) return network.ends().fetches;
  std::vector<BodyPort> results;
  for (const Node& node : network.module().main.nodes()) {
    if (!node.uses().empty() || IsInput(node)) continue;
    for (int i = 0; i < NumOutputs(node); ++i) results.emplace_back(node, i);
  }
  return results;
}

// Returns all tensors for which a graph is run: the results, and the inputs of ops with side
// effects.
std::vector<BodyPort> Purposes(const Network& network) {
  std::vector<BodyPort> ends = Results(network);
  for (const Node& node : network.nodes()) {
    const OpInfo* info = FindOp(node.op());
    bool has_effect = !info || info->is_stateful || NumOutputs(node) == 0;
    if (!has_effect || MayCallFunctions(node) || node.op() == "_Retval") continue;
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (node.input(i).node != kNoNode) ends.emplace_back(node.graph(), node.input(i));
    }
  }
  return ends;
}

// True for placeholders that TensorFlow adds to a branch for inputs that only other branches use;
// they have a special name.
bool IsUnusedOnPurpose(const Node& node) {
  return node.name().contains("unused_control_flow_input");
}

class UnusedInput : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    std::vector<BodyPort> inputs = network.ends().feeds;
    if (inputs.empty()) {
      for (Node node : network.module().main.nodes()) {
        // If several signatures share the graph, a placeholder with readers may be the input of
        // another signature, and is not checked.
        bool is_of_other = network.IsShared() && !node.uses().empty();
        if (IsInput(node) && !is_of_other) inputs.emplace_back(node, 0);
      }
    }
    if (inputs.empty()) return network.inputs().empty() ? "the graph has no inputs" : "";
    std::vector<BodyPort> purposes = Purposes(network);
    // An input that is only fetched counts as unused.
    llvm::erase_if(purposes,
                   [&](const BodyPort& port) { return llvm::is_contained(inputs, port); });
    PortSet by_value = network.flow().Backward(purposes, PassesValue);
    PortSet by_shape = network.flow().Backward(purposes);
    for (const BodyPort& input : inputs) {
      if (IsUnusedOnPurpose(input.node()) || by_value.Has(input)) continue;
      bool is_shape = by_shape.Has(input);
      bool is_read = !input.node().UsesOf(input.port.index).empty();
      Find(is_read && !is_shape ? Confidence::kLikely : Confidence::kCertain, input.node(),
           is_shape  ? "only the shape of this input is used, and none of its values"
           : is_read ? "no fetch and no assignment depends on this input"
                     : "no node reads this input",
           "connect it, or do not feed it: a wrong variable in the code shows as an "
           "unused input");
    }
    return "";
  }
};

GRAPNEL_CHECK(UnusedInput, {.name = "unused_input",
                            .stage = CheckStage::kInput,
                            .looks_for = "an input whose values have no effect",
                            .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
