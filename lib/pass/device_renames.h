// Requested devices of a graph: given, renamed or taken away.
#ifndef GRAPNEL_LIB_PASS_DEVICE_RENAMES_H_
#define GRAPNEL_LIB_PASS_DEVICE_RENAMES_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/glob.h"

namespace grapnel {

// What becomes of the devices that nodes ask for, in the main graph and in functions.
class DeviceRenames {
 public:
  // Each text is "none" (no node asks for any) or "OLD=NEW": OLD is a glob over the device as it is
  // written or as TensorFlow spells it, NEW a device ("GPU:1" and "/gpu:1" too) or "none". Errors:
  // another text, a NEW that is no device.
  static Expected<DeviceRenames> Parse(llvm::ArrayRef<std::string> texts);

  // Of several that fit a device the first counts; devices without one stay. The number of nodes
  // that changed. Errors, with nothing changed: a glob that fits no device there is.
  Expected<size_t> ApplyTo(Module* module) const;

 private:
  struct Rename {
    Glob old_name;
    std::string new_name;
  };
  const Rename* Find(llvm::StringRef device) const;

  std::vector<Rename> renames_;
};

// `device`, as a person types it, for every node of the main graph that has none; nothing when it
// is empty. The error is that of a name that cannot be read.
Error SetMissingDevices(Module& module, llvm::StringRef device);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_DEVICE_RENAMES_H_
