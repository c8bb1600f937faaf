#include "lib/job/run_devices.h"

#include "lib/exec/op_reference.h"
#include "lib/job/run.h"
#include "lib/support/name_list.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

bool IsOfType(const ListedDevice& device, llvm::StringRef type) {
  return device.name.type.text() == type;
}

bool Has(const DeviceSet& devices, llvm::StringRef type) {
  return llvm::any_of(devices.devices(), [&](const auto& each) { return IsOfType(each, type); });
}

// True for control flow of single nodes, sends, receives and collectives: an executor runs a graph
// with these on the CPU as a whole (ExecutorOptions::device).
bool IsFlow(const Node& node) {
  return IsExecutorsOwn(node.op()) &&
         llvm::StringSwitch<bool>(node.op())
             .Cases("Const", "HostConst", "Placeholder", "PlaceholderV2", false)
             .Cases("_Arg", "_Retval", "ControlTrigger", false)
             .Default(true);
}

Device* FirstGpu() {
  auto gpus = Devices::Get().OfKind("GPU");
  if (gpus && !gpus->empty()) return gpus->front();
  llvm::consumeError(gpus.takeError());
  return nullptr;
}

}  // namespace

bool HasGpu(const DeviceSet& devices) { return Has(devices, "GPU"); }

Expected<bool> AddHost(DeviceSet* devices) {
  if (Has(*devices, "CPU")) return false;
  DeviceSpec host = devices->device(0).name;
  host.type = DeviceWord::Of("CPU");
  host.id = 0;
  RETURN_IF_ERROR(devices->Add(host));
  return true;
}

Error CheckRunDevices(const DeviceSet& devices, const RunRequest& request) {
  const RunFlagNames& words = request.words;
  for (const ListedDevice& device : devices.devices()) {
    if (IsOfType(device, "CPU")) continue;
    if (!IsOfType(device, "GPU"))
      return MakeError("{0}: '{1}' is neither a CPU nor a GPU, and only these can be simulated",
                       words.placer.devices, device.text);
    if (request.hard && !FirstGpu())
      return MakeError(
          "{0}: '{1}' would be simulated on the CPU, which {2} forbids ({3} GPU runs on a real "
          "one)",
          words.placer.devices, device.text, words.placer.hard, words.device);
  }
  return Error::success();
}

Device* RealGpuFor(const DeviceSet& devices, const Graph* graph) {
  if (!HasGpu(devices)) return nullptr;
  if (graph) {
    for (const Node& node : graph->nodes()) {
      if (IsFlow(node)) return nullptr;
    }
  }
  return FirstGpu();
}

void MoveToRealGpu(const Device& gpu, Module& module) {
  for (const Body& body : Bodies(module)) {
    for (Node node : body.graph->nodes()) {
      auto device = DeviceSpec::Parse(node.device());
      if (device && device->type && device->type.text() == gpu.kind())
        body.graph->SetDevice(node.id(), gpu.name());
      llvm::consumeError(device.takeError());
    }
  }
}

Expected<std::vector<LogicalDevice>> LogicalDevices(llvm::StringRef text,
                                                    const RunRequest& request) {
  ASSIGN_OR_RETURN(DeviceSet devices, DeviceSet::Parse(text));
  RETURN_IF_ERROR(CheckRunDevices(devices, request));
  RETURN_IF_ERROR(AddHost(&devices).takeError());
  const Device* gpu = RealGpuFor(devices, nullptr);
  std::vector<LogicalDevice> logical;
  for (const ListedDevice& device : devices.devices()) {
    LogicalDevice& row = logical.emplace_back();
    row.name = device.text;
    row.kind = device.name.type.text().str();
    if (row.kind == "CPU") continue;
    row.is_simulated = !gpu;
    row.text = gpu ? gpu->name() + "  " + gpu->Describe() : "simulated on the CPU";
  }
  return logical;
}

std::string LogicalGpusText(const DeviceSet& devices, const Device* gpu) {
  std::vector<std::string> names;
  for (const ListedDevice& device : devices.devices()) {
    if (!IsOfType(device, "CPU")) names.push_back(device.text);
  }
  if (names.empty()) return "";
  return (gpu ? "on " + gpu->name() : std::string("simulated on the CPU")) + ": " + NameList(names);
}

}  // namespace grapnel
