#include "tools/graph_runner.h"

#include "lib/ir/find.h"
#include "lib/place/function_spread.h"
#include "lib/place/settings.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

Expected<PartitionScope> ScopeOf(const Graph& graph, const ExecutorOptions& options) {
  PartitionScope scope;
  for (const std::string& feed : options.feeds) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feed));
    scope.feeds.push_back(port);
  }
  for (const std::string& fetch : options.fetches) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, fetch));
    scope.fetches.push_back(port);
  }
  return scope;
}

}  // namespace

void SpreadFlags::AddTo(CommandLine& line) {
  line.Option(
          "--devices", devices,
          "place the graph on these CPUs (cpu:4, or names), split it, and run the parts side by "
          "side")
      .ShownAs("D,...");
  line.Flag("--hard", hard, "with --devices: a request that cannot be met is an error");
  line.Flag("--log-device-placement", log_placement,
            "say where each node runs, as TensorFlow does, on standard error");
}

Expected<GraphRunner> GraphRunner::Make(Module& module, const ExecutorOptions& options,
                                        const SpreadFlags& flags, llvm::raw_ostream& log) {
  GraphRunner runner;
  if (flags.devices.empty() && !flags.log_placement) {
    ASSIGN_OR_RETURN(runner.whole_, Executor::Compile(module.main, options));
  } else {
    RETURN_IF_ERROR(runner.Split(module, options, flags, log));
  }
  return runner;
}

Error GraphRunner::Split(Module& module, const ExecutorOptions& options, const SpreadFlags& flags,
                         llvm::raw_ostream& log) {
  if (!IsHost(options.device)) {
    return MakeError("{0} goes with --device CPU alone",
                     flags.devices.empty() ? "--log-device-placement" : "--devices");
  }
  PlacerSettings settings;
  settings.devices = flags.devices.empty() ? "cpu:1" : flags.devices;
  settings.soft = !flags.hard;
  settings.kernels = "grapnel";
  ASSIGN_OR_RETURN(PlacerSetup setup, PlacerSetup::Make(settings));
  for (const ListedDevice& device : setup.devices.devices()) {
    if (device.name.type.text() != "CPU") {
      return MakeError(
          "--devices: '{0}' is no CPU, and only CPUs can be played (--device GPU runs "
          "on a real one)",
          device.text);
    }
  }
  Ends ends{options.feeds, options.fetches};
  FunctionSpread spread(module, ends, setup, flags.log_placement ? &log : nullptr);
  RETURN_IF_ERROR(spread.Run());
  Graph& graph = module.main;
  if (setup.devices.size() == 1) {
    ASSIGN_OR_RETURN(whole_, Executor::Compile(graph, options));
    return Error::success();
  }
  ASSIGN_OR_RETURN(PartitionScope scope, ScopeOf(graph, options));
  ASSIGN_OR_RETURN(PartitionedGraph split, PartitionByDevice(module, *setup.kernels, scope));
  split_ = std::make_unique<PartitionedGraph>(std::move(split));
  std::vector<DevicePart> parts;
  for (const Partition& part : split_->partitions)
    parts.push_back({part.device, &part.module->main});
  ASSIGN_OR_RETURN(parts_, PartitionedExecutor::Compile(parts, options));
  return Error::success();
}

void SaySpread(const GraphRunner& runner, const Device& device, const MessageSink& sink) {
  if (const PartitionedGraph* split = runner.split()) {
    return sink(Severity::kInfo, Plural(split->partitions.size(), "device") + ", " +
                                     Plural(split->transfers.size(), "transfer") +
                                     " between them a run");
  }
  const PlanSpread& spread = *runner.spread();
  if (IsHost(&device)) return;
  if (!spread.note.empty()) return sink(Severity::kWarning, spread.note);
  sink(Severity::kInfo,
       llvm::formatv(
           "{0} on {1}, {2} on the CPU, {3} between them a run, {4} of constants copied once",
           Plural(spread.on_device, "node"), device.name(), spread.on_host,
           Plural(spread.copies, "transfer"), Plural(spread.constant_bytes, "byte"))
           .str());
}

}  // namespace grapnel
