// The settings of a placer, from flags, from a page's form, or from parameters of a custom
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
  std::string devices;                 // as for DeviceSet::Parse
  std::string default_device;          // full or partial name; empty: no default device
  std::string kernels = "tensorflow";  // as for MakeKernelCatalog
  bool soft = true;
  bool may_read = true;   // whether `devices` may be the path of a cluster file
  PlacerFlagNames words;  // setting names for messages; From() sets the parameters' names

  // Reads parameter_map {devices: "cpu:4", soft: true, default_device: "/device:CPU:1", kernels:
  // "grapnel"}; all but `devices` may be left out.
  static Expected<PlacerSettings> From(const proto::RewriterConfig& config);
  void AddTo(proto::RewriterConfig* config) const;
};

// The objects made from PlacerSettings. Errors quote the invalid part of the settings, if there is
// one.
struct GRAPNEL_PUBLIC PlacerSetup {
  DeviceSet devices;
  PlacerOptions options;
  std::unique_ptr<KernelCatalog> kernels;
  static Expected<PlacerSetup> Make(const PlacerSettings& settings);
};

// Returns the kernel catalog for passes that need no other setting of the placer: the one that
// `config` names for the placer, else TensorFlow's.
GRAPNEL_PUBLIC Expected<std::unique_ptr<KernelCatalog>> KernelsOf(
    const proto::RewriterConfig& config);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_SETTINGS_H_
