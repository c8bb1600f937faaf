// Sets, renames or removes the requested devices of a graph.
#ifndef GRAPNEL_LIB_PASS_DEVICE_RENAMES_H_
#define GRAPNEL_LIB_PASS_DEVICE_RENAMES_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/glob.h"

namespace grapnel {

// Rules that rename the requested devices of nodes, in the main graph and in functions.
class DeviceRenames {
 public:
  // Each text is "none" (removes all devices) or "OLD=NEW": OLD is a glob that matches the device
  // string in the graph or TensorFlow's full spelling of it; NEW is a device, which may be short
  // ("GPU:1", "/gpu:1"), or "none" (removes the device). Errors: any other text, an OLD that is not
  // a glob, a NEW that is not a device.
  static Expected<DeviceRenames> Parse(llvm::ArrayRef<std::string> texts);

  // Applies to each device the first rename that matches; nodes without a device stay unchanged.
  // Returns the number of nodes that changed. Errors, with nothing changed: a glob other than "*"
  // that matches no device of the graph.
  Expected<size_t> ApplyTo(Module* module) const;

 private:
  struct Rename {
    Glob old_name;
    std::string new_name;
  };
  const Rename* Find(llvm::StringRef device) const;

  std::vector<Rename> renames_;
};

// Sets `device`, in any user spelling, on every node of the main graph that has none; does nothing
// if `device` is empty. Errors: a device name that cannot be parsed.
Error SetMissingDevices(Module& module, llvm::StringRef device);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_DEVICE_RENAMES_H_
