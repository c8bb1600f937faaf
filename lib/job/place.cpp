#include "lib/job/place.h"

#include <cstdlib>

#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/job/dump.h"
#include "lib/place/partition.h"
#include "lib/support/file.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

Expected<std::vector<PartitionSize>> Split(OpenedGraph& opened, const KernelCatalogue& kernels,
                                           llvm::StringRef folder) {
  auto split = PartitionByDevice(opened.module(), kernels);
  if (!split) return Annotate(opened.model().path, split.takeError());
  RETURN_IF_ERROR(WritePartitions(*split, folder, opened.name()).takeError());
  std::vector<PartitionSize> sizes;
  for (const Partition& part : split->partitions)
    sizes.push_back({part.device, static_cast<int64_t>(part.module->main.num_nodes())});
  for (const Transfer& transfer : split->transfers) {
    ++sizes[transfer.from].sends;
    ++sizes[transfer.to].receives;
  }
  return sizes;
}

Error RunPass(PassManager& manager, OpenedGraph& opened, const OptimizeOptions& options) {
  auto result = manager.Run(opened.module(), options);
  return result ? Error::success() : Annotate(opened.model().path, result.takeError());
}

}  // namespace

Expected<PlacedGraph> PlaceGraph(const OpenedGraph& opened, const PlaceRequest& request) {
  PlacedGraph placed;
  ASSIGN_OR_RETURN(placed.setup, PlacerSetup::Make(request.settings));
  placed.graph = &opened.module().main;
  if (!request.function.empty()) {
    auto function = FindFunction(opened.module(), request.function);
    if (!function) return Annotate(opened.model().path, function.takeError());
    placed.graph = &(*function)->body;
  }
  placed.placement =
      Place(*placed.graph, placed.setup.devices, *placed.setup.kernels, placed.setup.options);
  return placed;
}

std::string TitleOf(const PlacerSettings& settings) {
  std::string title = settings.devices + (settings.soft ? " (soft" : " (hard");
  if (!settings.default_device.empty()) title += ", default " + settings.default_device;
  if (settings.kernels != PlacerSettings().kernels) title += ", " + settings.kernels + "'s kernels";
  return title + ")";
}

PlacerSettings WithChanges(PlacerSettings settings, llvm::StringRef changes) {
  std::string devices;
  for (const std::string& item : SplitList(changes)) {
    if (item == "hard" || item == "soft") {
      settings.soft = item == "soft";
    } else {
      devices += (devices.empty() ? "" : ",") + item;
    }
  }
  if (!devices.empty()) settings.devices = devices;
  return settings;
}

Expected<std::vector<PartitionSize>> WritePlaced(OpenedGraph& opened,
                                                 const PlacerSettings& settings,
                                                 const KernelCatalogue& kernels,
                                                 const PlacementFiles& files,
                                                 const MessageSink& sink) {
  std::vector<PartitionSize> sizes;
  if (files.graph.empty() && files.partitions.empty() && files.ledger.empty() &&
      files.dump_folder.empty() && !std::getenv("TF_DUMP_GRAPH_PREFIX"))
    return sizes;
  OptimizeOptions options;
  options.passes = {"placer"};
  options.sink = sink;
  settings.AddTo(&options.config);
  PassManager manager;
  std::unique_ptr<AtomicFile> ledger;
  if (!files.ledger.empty()) {
    ASSIGN_OR_RETURN(ledger, AtomicFile::Create(files.ledger));
    manager.Add(MakeLedgerInstrumentation(ledger->os()));
  }
  RETURN_IF_ERROR(AddDump({files.dump_folder, opened.name(), sink, /*stages_alone=*/true},
                          opened.module(), options, &manager));
  manager.Add(MakeVerifyInstrumentation());
  RETURN_IF_ERROR(RunPass(manager, opened, options));
  if (!files.graph.empty()) {
    RETURN_IF_ERROR(
        WriteGraph(opened.module(), files.graph, TopologicalOrder(opened.module().main)));
  }
  if (!files.partitions.empty()) {
    ASSIGN_OR_RETURN(sizes, Split(opened, kernels, files.partitions));
    options.passes = {"partition"};
    RETURN_IF_ERROR(RunPass(manager, opened, options));
  }
  if (ledger) RETURN_IF_ERROR(ledger->Commit());
  return sizes;
}

Error WriteLogged(OpenedGraph& opened, llvm::ArrayRef<std::string> logged, llvm::StringRef path) {
  Graph& graph = opened.module().main;
  for (Node node : graph.nodes()) {
    if (!logged[node.id()].empty()) graph.SetDevice(node.id(), logged[node.id()]);
  }
  return WriteGraph(opened.module(), path, TopologicalOrder(graph));
}

}  // namespace grapnel
