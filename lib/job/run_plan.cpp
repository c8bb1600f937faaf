#include "lib/job/run_plan.h"

#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/module.h"
#include "lib/job/run.h"
#include "lib/place/function_spread.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

Expected<PartitionScope> ScopeOf(const Graph& graph, const ExecutorOptions& options) {
  PartitionScope scope;
  for (const std::string& feed : options.feeds) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feed));
    scope.feeds.push_back(port);
  }
  for (const std::string& fetch : options.fetches) {
    ASSIGN_OR_RETURN(Port port, FindEnd(graph, fetch));
    scope.fetches.push_back(port);
  }
  return scope;
}

bool IsOfType(const ListedDevice& device, llvm::StringRef type) {
  return device.name.type.text() == type;
}

bool Has(const DeviceSet& devices, llvm::StringRef type) {
  return llvm::any_of(devices.devices(), [&](const auto& each) { return IsOfType(each, type); });
}

// Refuses devices that are neither CPUs nor GPUs and, if the user wants no replacement, GPUs: the
// parts of a split graph run on the CPU.
Error CheckCanSimulate(const DeviceSet& devices, const RunRequest& request) {
  const RunFlagNames& words = request.words;
  for (const ListedDevice& device : devices.devices()) {
    if (IsOfType(device, "CPU")) continue;
    if (!IsOfType(device, "GPU"))
      return MakeError("{0}: '{1}' is neither a CPU nor a GPU, and only these can be simulated",
                       words.placer.devices, device.text);
    if (request.hard)
      return MakeError(
          "{0}: '{1}' would be simulated on the CPU, which {2} forbids ({3} GPU runs on a real "
          "one)",
          words.placer.devices, device.text, words.placer.hard, words.device);
  }
  return Error::success();
}

// Turns requests for CPU k into requests for GPU k in a graph that was recorded on several logical
// CPUs, as a program for several GPUs is on a machine without them.
void MoveToGpus(Module& module) {
  std::vector<std::tuple<Graph*, NodeId, DeviceSpec>> on_cpus;
  bool has_several = false;
  for (const Body& body : Bodies(module)) {
    for (Node node : body.graph->nodes()) {
      auto device = DeviceSpec::Parse(node.device());
      if (!device) {
        llvm::consumeError(device.takeError());
      } else if (device->type && device->type.text() == "CPU") {
        has_several |= device->id > 0;
        on_cpus.emplace_back(body.graph, node.id(), *device);
      }
    }
  }
  if (!has_several) return;
  for (auto& [graph, id, device] : on_cpus) {
    device.type = DeviceWord::Of("GPU");
    graph->SetDevice(id, device.ToString());
  }
}

// Adds CPU 0 of the first device's task, which TensorFlow always has: ops without a GPU kernel run
// there.
Error AddHostOf(DeviceSet* devices) {
  DeviceSpec host = devices->device(0).name;
  host.type = DeviceWord::Of("CPU");
  host.id = 0;
  return devices->Add(host);
}

}  // namespace

TakeValue ValueTaker(Module& module) {
  auto holders = std::make_shared<llvm::DenseMap<const char*, int>>();
  for (const Body& body : Bodies(module)) {
    for (Node node : body.graph->nodes()) {
      if (node.op() != "Const") continue;
      if (auto value = node.FindAttr("value")) ++(*holders)[value->bytes().data()];
    }
  }
  return [&module, holders](const Node& constant) -> std::shared_ptr<const void> {
    auto value = constant.FindAttr("value");
    if (&constant.graph() != &module.main || !value || (*holders)[value->bytes().data()] != 1)
      return nullptr;
    std::shared_ptr<const void> owner = module.TakeLarge(value->bytes());
    if (owner) module.main.RemoveAttr(constant.id(), "value");
    return owner;
  };
}

Expected<std::unique_ptr<PlacerSetup>> PlaceForRun(Module& module, const RunRequest& request,
                                                   const ExecutorOptions& options) {
  const RunFlagNames& words = request.words;
  if (!IsHost(options.device))
    return MakeError("{0} requires {1} CPU",
                     request.devices.empty() ? words.placement_log : words.placer.devices,
                     words.device);
  PlacerSettings settings;
  settings.devices = request.devices.empty() ? "cpu:1" : request.devices;
  settings.may_read = request.may_read;
  settings.soft = !request.hard;
  settings.kernels = "grapnel";
  settings.words = words.placer;
  ASSIGN_OR_RETURN(PlacerSetup made, PlacerSetup::Make(settings));
  RETURN_IF_ERROR(CheckCanSimulate(made.devices, request));
  if (Has(made.devices, "GPU")) {
    ASSIGN_OR_RETURN(made.kernels, MakeKernelCatalog("tensorflow"));
    if (!Has(made.devices, "CPU")) {
      MoveToGpus(module);
      RETURN_IF_ERROR(AddHostOf(&made.devices));
    }
  }
  auto setup = std::make_unique<PlacerSetup>(std::move(made));
  FeedsAndFetches tensors{options.feeds, options.fetches};
  FunctionSpread spread(module, tensors, *setup, request.placement_log);
  RETURN_IF_ERROR(spread.Run());
  return setup;
}

Expected<RunPlan> RunPlan::Compile(const Graph& graph, const ExecutorOptions& options) {
  RunPlan plan;
  ASSIGN_OR_RETURN(plan.whole, Executor::Compile(graph, options));
  return plan;
}

Expected<RunPlan> RunPlan::CompilePlaced(Module& placed, const PlacerSetup& setup,
                                         const ExecutorOptions& options) {
  if (setup.devices.size() <= 1) return Compile(placed.main, options);
  RunPlan plan;
  ASSIGN_OR_RETURN(PartitionScope scope, ScopeOf(placed.main, options));
  ASSIGN_OR_RETURN(PartitionedGraph split, PartitionByDevice(placed, *setup.kernels, scope));
  plan.split = std::make_unique<PartitionedGraph>(std::move(split));
  std::vector<PartitionGraph> graphs;
  for (const Partition& part : plan.split->partitions)
    graphs.push_back({part.device, &part.module->main});
  ASSIGN_OR_RETURN(plan.parts, PartitionedExecutor::Compile(graphs, options));
  return plan;
}

Expected<std::vector<Tensor>> RunPlan::Run(std::vector<Tensor> values) {
  return parts ? parts->Run(values) : whole->Run(std::move(values));
}

}  // namespace grapnel
