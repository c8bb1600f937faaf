// Puts every node of the main graph on a device, as TensorFlow's placer does.
//
//   Before:  v @gpu:0;  v -> Read r;  Const c -> Add(r, c) a      After:  v, r, c, a @gpu:0
//
// It is told what devices there are by a custom optimizer named "placer" in the RewriterConfig
// (passes/placer.h). Bodies of functions are placed when they are called, by TensorFlow as here:
// they are left alone.
//
// Refuses: a graph that cannot be placed is an error, with the nodes and edges that conflict.
#include "passes/placer.h"

#include "lib/pass/pass.h"
#include "lib/place/explanation.h"

namespace grapnel {
namespace {

constexpr const char* kPlacer = "placer";

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
      if (node.device() == device) continue;
      if (!edit.Begin(RuleName(placed.rule), node)) break;
      if (placed.witness != kNoNode) edit.Used(edit.graph().node(placed.witness));
      edit.SetDevice(node, device);
      edit.End();
    }
    return Error::success();
  }

 private:
  static const char* RuleName(PlacementRule rule) {
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
             (PassInfo{"placer", "placer", 0, false, true, "",
                       "puts every node on a device, as TensorFlow's placer does",
                       "bodies of functions"}),
             {"default_device", "the caller's device, where it is one of those possible"},
             {"first_device", "the first of the devices that kernels, requests and group allow"},
             {"generator_with_reader", "what has no inputs goes to its only readers"},
             {"identity_with_input", "an Identity between two nodes that ask for the same stays"},
             {"metadata_with_input", "Shape, Size and Rank stay with what they look at"},
             {"with_group", "another node that must share its device was placed before"});

}  // namespace

Expected<PlacerSettings> PlacerSettings::From(const proto::RewriterConfig& config) {
  for (const auto& custom : config.custom_optimizers()) {
    if (custom.name() != kPlacer) continue;
    PlacerSettings settings;
    for (const auto& [key, value] : custom.parameter_map()) {
      if (key == "devices") {
        settings.devices = value.s();
      } else if (key == "default_device") {
        settings.default_device = value.s();
      } else if (key == "kernels") {
        settings.kernels = value.s();
      } else if (key == "soft") {
        settings.soft = value.b();
      } else {
        return MakeError(
            "custom optimizer 'placer': parameter '{0}' is none of devices, "
            "default_device, kernels, soft",
            key);
      }
    }
    return settings;
  }
  return MakeError(
      "there is no custom optimizer 'placer' in the RewriterConfig, which would say "
      "what devices there are (`grapnel place` has flags for it)");
}

void PlacerSettings::AddTo(proto::RewriterConfig* config) const {
  auto* custom = config->add_custom_optimizers();
  custom->set_name(kPlacer);
  auto& map = *custom->mutable_parameter_map();
  map["devices"].set_s(devices);
  map["default_device"].set_s(default_device);
  map["kernels"].set_s(kernels);
  map["soft"].set_b(soft);
}

Expected<PlacerSetup> PlacerSetup::Make(const PlacerSettings& settings) {
  PlacerSetup setup;
  ASSIGN_OR_RETURN(setup.devices, DeviceSet::Parse(settings.devices));
  setup.options.soft = settings.soft;
  if (!settings.default_device.empty()) {
    ASSIGN_OR_RETURN(DeviceSpec name, DeviceSpec::Parse(settings.default_device));
    setup.options.default_device = setup.devices.Find(name);
    if (!setup.options.default_device) {
      return MakeError("default device '{0}' is none of the devices given: {1}",
                       settings.default_device, setup.devices.List());
    }
  }
  ASSIGN_OR_RETURN(setup.kernels, MakeKernelCatalogue(settings.kernels));
  return setup;
}

Expected<std::unique_ptr<KernelCatalogue>> KernelsOf(const proto::RewriterConfig& config) {
  auto settings = PlacerSettings::From(config);
  if (settings) return MakeKernelCatalogue(settings->kernels);
  llvm::consumeError(settings.takeError());
  return MakeKernelCatalogue("tensorflow");
}

}  // namespace grapnel
