#include "lib/place/settings.h"

namespace grapnel {
namespace {

constexpr const char* kPlacer = "placer";

}  // namespace

Expected<PlacerSettings> PlacerSettings::From(const proto::RewriterConfig& config) {
  for (const auto& custom : config.custom_optimizers()) {
    if (custom.name() != kPlacer) continue;
    PlacerSettings settings;
    settings.words.devices = "the placer's 'devices'";
    settings.words.hard = "'soft: false'";
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
            "custom optimizer 'placer': parameter '{0}' is not one of devices, "
            "default_device, kernels, soft",
            key);
      }
    }
    return settings;
  }
  return MakeError(
      "the RewriterConfig has no custom optimizer 'placer', which lists "
      "the devices (`grapnel place` has flags for them)");
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
  ASSIGN_OR_RETURN(setup.devices, settings.may_read ? DeviceSet::Parse(settings.devices)
                                                    : DeviceSet::ParseNames(settings.devices));
  setup.options.soft = settings.soft;
  setup.options.words = settings.words;
  if (!settings.default_device.empty()) {
    ASSIGN_OR_RETURN(DeviceSpec name, DeviceSpec::Parse(settings.default_device));
    setup.options.default_device = setup.devices.Find(name);
    if (!setup.options.default_device) {
      return MakeError("default device '{0}' is not one of the given devices: {1}",
                       settings.default_device, setup.devices.List());
    }
  }
  ASSIGN_OR_RETURN(setup.kernels, MakeKernelCatalog(settings.kernels));
  return setup;
}

Expected<std::unique_ptr<KernelCatalog>> KernelsOf(const proto::RewriterConfig& config) {
  auto settings = PlacerSettings::From(config);
  if (settings) return MakeKernelCatalog(settings->kernels);
  llvm::consumeError(settings.takeError());
  return MakeKernelCatalog("tensorflow");
}

}  // namespace grapnel
