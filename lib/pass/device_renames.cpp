#include "lib/pass/device_renames.h"

#include <set>

#include "lib/ir/device_name.h"
#include "lib/support/suggest.h"

namespace grapnel {
namespace {

constexpr const char* kNone = "none";

bool FitsDevice(const Glob& glob, llvm::StringRef device) {
  return glob.Fits(device) || glob.Fits(CanonicalDevice(device));
}

std::vector<std::string> DevicesOf(Module& module) {
  std::set<std::string> devices;
  for (const Body& body : Bodies(module)) {
    for (Node node : body.graph->nodes())
      if (!node.device().empty()) devices.insert(node.device().str());
  }
  return {devices.begin(), devices.end()};
}

}  // namespace

Expected<DeviceRenames> DeviceRenames::Parse(llvm::ArrayRef<std::string> texts) {
  DeviceRenames result;
  for (llvm::StringRef text : texts) {
    auto [old_name, new_name] = text.split('=');
    bool all = text == kNone;
    if (!all && (old_name.empty() || new_name.empty()))
      return MakeError("'{0}' is neither OLD=NEW, such as '*GPU*=CPU:0', nor the word 'none'",
                       text);
    ASSIGN_OR_RETURN(Glob glob, Glob::Parse(all ? "*" : old_name));
    std::string name;
    if (!all && new_name != kNone) {
      ASSIGN_OR_RETURN(name, DeviceNameFromTyped(new_name));
    }
    result.renames_.push_back({std::move(glob), std::move(name)});
  }
  return result;
}

const DeviceRenames::Rename* DeviceRenames::Find(llvm::StringRef device) const {
  for (const Rename& rename : renames_)
    if (FitsDevice(rename.old_name, device)) return &rename;
  return nullptr;
}

Expected<size_t> DeviceRenames::ApplyTo(Module* module) const {
  std::vector<std::string> devices = DevicesOf(*module);
  for (const Rename& rename : renames_) {
    bool fits = rename.old_name.text() == "*";
    for (const std::string& device : devices) fits |= FitsDevice(rename.old_name, device);
    if (!fits) return NotFound("device", rename.old_name.text(), devices);
  }
  size_t changed = 0;
  for (const Body& body : Bodies(*module)) {
    for (Node node : body.graph->nodes()) {
      const Rename* rename = node.device().empty() ? nullptr : Find(node.device());
      if (!rename || rename->new_name == node.device()) continue;
      body.graph->SetDevice(node.id(), rename->new_name);
      if (body.function) body.function->changed = true;
      ++changed;
    }
  }
  return changed;
}

Error SetMissingDevices(Module& module, llvm::StringRef device) {
  if (device.empty()) return Error::success();
  ASSIGN_OR_RETURN(std::string name, DeviceNameFromTyped(device));
  for (Node node : module.main.nodes()) {
    if (node.device().empty()) module.main.SetDevice(node.id(), name);
  }
  return Error::success();
}

}  // namespace grapnel
