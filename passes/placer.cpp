// Assigns every node of the main graph to a device, as TensorFlow's placer does.
//
//   Before:  v @gpu:0;  v -> Read r;  Const c -> Add(r, c) a      After:  v, r, c, a @gpu:0
//
// A custom optimizer named "placer" in the RewriterConfig lists the devices (lib/place/settings.h).
// Function bodies are left alone: TensorFlow places them when they are called, and so does grapnel.
//
// Errors: those of PlacerSettings and PlacerSetup; a graph that cannot be placed, with the reason.
#include "lib/pass/pass.h"
#include "lib/place/explanation.h"
#include "lib/place/settings.h"

namespace grapnel {
namespace {

class PlacerPass : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    if (edit.function()) return Error::success();
    ASSIGN_OR_RETURN(PlacerSettings settings, PlacerSettings::From(edit.config()));
    ASSIGN_OR_RETURN(PlacerSetup setup, PlacerSetup::Make(settings));
    Placement placement = Place(edit.graph(), setup.devices, *setup.kernels, setup.options);
    if (placement.failure) {
      return MakeError("{0}", ExplainFailure({edit.graph(), setup.devices, *setup.kernels,
                                              setup.options, placement}));
    }
    for (NodeId id : placement.order) {
      const NodePlacement& placed = placement.Of(id);
      Node node = edit.graph().node(id);
      const std::string& device = setup.devices.device(placed.device).text;
      const char* step = StepName(placed.rule);
      if (node.device() == device || !edit.Runs(step)) continue;
      if (!edit.Begin(step, node)) break;
      if (placed.witness != kNoNode) edit.Used(edit.graph().node(placed.witness));
      edit.SetDevice(node, device);
      edit.End();
    }
    return Error::success();
  }

 private:
  static const char* StepName(PlacementRule rule) {
    switch (rule) {
      case PlacementRule::kIdentity:
        return "identity_with_input";
      case PlacementRule::kMetadata:
        return "metadata_with_input";
      case PlacementRule::kGenerator:
        return "generator_with_reader";
      case PlacementRule::kGroup:
        return "with_group";
      case PlacementRule::kDefault:
        return "default_device";
      default:
        return "first_device";
    }
  }
};

GRAPNEL_PASS(PlacerPass,
             (PassInfo{.name = "placer",
                       .config_name = "placer",
                       .run_once = true,
                       .help = "puts every node on a device, as TensorFlow's placer does",
                       .refuses = "bodies of functions"}),
             {"default_device", "the default device, if the node can be there and on others"},
             {"first_device", "the first of the devices that kernels, requests and group allow"},
             {"generator_with_reader",
              "a node without inputs goes to the device of all its readers"},
             {"identity_with_input",
              "an Identity between two nodes that request the same device stays with them"},
             {"metadata_with_input", "Shape, Size and Rank stay with their input"},
             {"with_group", "another node that must share its device was placed earlier"});

}  // namespace

}  // namespace grapnel
