// Finds outputs of a network that depend on its layers but on none of its inputs. Skips outputs
// that depend on random numbers.
#include "lib/doctor/doctor.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class ConstantOutput : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    if (network.ends().fetches.empty()) return "nothing is fetched";
    if (network.inputs().empty()) return "the graph has no inputs";
    for (const BodyPort& fetch : network.ends().fetches) {
      PortSet before = network.flow().Backward({fetch}, PassesValue);
      auto is_before = [&](const BodyPort& port) { return before.Has(port); };
      auto layer = llvm::find_if(network.weighted_ops(), [&](const WeightedOp& l) {
        bool is_of_weights = network.VariableOf(l.input) >= 0;
        return before.Has(l.output()) && !is_of_weights;
      });
      if (layer == network.weighted_ops().end() || llvm::any_of(network.inputs(), is_before))
        continue;
      bool is_random = llvm::any_of(network.nodes(), [&](const Node& node) {
        return node.op().contains("Random") && before.HasNode(node);
      });
      if (is_random) continue;
      Find(Confidence::kLikely, fetch.node(),
           Sentence("this output depends on layers ('{0}') but on none of the inputs",
                    layer->node.name()),
           "trace its inputs (grapnel view --around): the code may read a wrong tensor "
           "instead of the network's");
    }
    return "";
  }
};

GRAPNEL_CHECK(ConstantOutput, {.name = "constant_output",
                               .stage = CheckStage::kModel,
                               .looks_for = "an output of layers that does not depend on any input",
                               .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
