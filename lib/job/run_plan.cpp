#include "lib/job/run_plan.h"

#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/module.h"
#include "lib/job/run.h"
#include "lib/job/run_devices.h"
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
  RETURN_IF_ERROR(CheckRunDevices(made.devices, request));
  if (HasGpu(made.devices)) {
    ASSIGN_OR_RETURN(made.kernels, MakeKernelCatalog("tensorflow"));
    ASSIGN_OR_RETURN(bool has_only_gpus, AddHost(&made.devices));
    if (has_only_gpus) MoveToGpus(module);
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
  if (Device* gpu = RealGpuFor(setup.devices, &placed.main)) {
    MoveToRealGpu(*gpu, placed);
    ExecutorOptions on_gpu = options;
    on_gpu.device = gpu;
    return Compile(placed.main, on_gpu);
  }
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
