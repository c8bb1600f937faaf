// What a placer is told: by flags, by a page's form, or as a pass, by parameters of a custom
// optimizer named "placer" in a RewriterConfig.
#ifndef GRAPNEL_LIB_PLACE_SETTINGS_H_
#define GRAPNEL_LIB_PLACE_SETTINGS_H_

#include <memory>
#include <string>

#include "lib/place/placer.h"
#include "lib/proto/rewriter_config.pb.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC PlacerSettings {
  std::string devices;                 // as DeviceSet::Parse takes them
  std::string default_device;          // a name, may be partial; empty: none
  std::string kernels = "tensorflow";  // as MakeKernelCatalog takes them
  bool soft = true;
  bool may_read = true;  // whether `devices` may be the path of a cluster file
  PlacerFlagNames words;     // what whoever sets these calls them; From says the parameters' names

  // parameter_map {devices: "cpu:4", soft: true, default_device: "/device:CPU:1", kernels:
  // "grapnel"}; all but `devices` may be left out.
  static Expected<PlacerSettings> From(const proto::RewriterConfig& config);
  void AddTo(proto::RewriterConfig* config) const;
};

// What the settings come to. Errors quote the part that is wrong.
struct GRAPNEL_PUBLIC PlacerSetup {
  DeviceSet devices;
  PlacerOptions options;
  std::unique_ptr<KernelCatalog> kernels;
  static Expected<PlacerSetup> Make(const PlacerSettings& settings);
};

// Whose kernels decide for a pass that only needs those: the settings', if there are any, else
// TensorFlow's.
GRAPNEL_PUBLIC Expected<std::unique_ptr<KernelCatalog>> KernelsOf(
    const proto::RewriterConfig& config);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_SETTINGS_H_
