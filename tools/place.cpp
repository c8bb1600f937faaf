// `grapnel place MODEL`: where each node runs, and why.
#include <cstdlib>

#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/job/dump.h"
#include "lib/place/partition.h"
#include "lib/place/settings.h"
#include "lib/serve/pages/html_file.h"
#include "lib/serve/pages/placement_page.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/input.h"
#include "tools/place_text.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, function, log, what_if, output, dump_dir, ledger, partitions, html;
  std::vector<std::string> explain;
  PlacerSettings settings;
  bool hard = false, table = false, nodes = false, report = false;

  // Whether something is written; then the log's lines are not what was asked for.
  bool Writes() const {
    return !output.empty() || !html.empty() || !dump_dir.empty() || !ledger.empty() ||
           !partitions.empty();
  }
};

// The graph of each device, to files.
Error Split(const Flags& flags, OpenedGraph& input, const KernelCatalogue& kernels,
            llvm::raw_ostream& os) {
  auto split = PartitionByDevice(input.module(), kernels);
  if (!split) return Annotate(flags.model, split.takeError());
  RETURN_IF_ERROR(WritePartitions(*split, flags.partitions, input.name()).takeError());
  std::vector<std::vector<std::string>> rows = {{"device", "nodes", "sends", "receives"}};
  for (size_t i = 0; i < split->partitions.size(); ++i) {
    const Partition& part = split->partitions[i];
    auto count = [&](int Transfer::*end) {
      return std::to_string(llvm::count_if(split->transfers, [&](const Transfer& transfer) {
        return transfer.*end == static_cast<int>(i);
      }));
    };
    rows.push_back({part.device, WithCommas(part.module->main.num_nodes()), count(&Transfer::from),
                    count(&Transfer::to)});
  }
  os << Table(rows);
  return Error::success();
}

// Puts the devices on the graph as a stage of the PassManager, so that it is dumped and recorded as
// any pass is, and writes the graph; then the same for the partitions.
Error RunStages(const Flags& flags, OpenedGraph& input, const KernelCatalogue& kernels,
                const MessageSink& sink, llvm::raw_ostream& os) {
  OptimizeOptions options;
  options.passes = {"placer"};
  options.sink = sink;
  flags.settings.AddTo(&options.config);
  PassManager manager;
  std::unique_ptr<AtomicFile> ledger;
  if (!flags.ledger.empty()) {
    ASSIGN_OR_RETURN(ledger, AtomicFile::Create(flags.ledger));
    manager.Add(MakeLedgerInstrumentation(ledger->os()));
  }
  RETURN_IF_ERROR(AddDump({flags.dump_dir, input.name(), sink, /*stages_alone=*/true},
                          input.module(), options, &manager));
  manager.Add(MakeVerifyInstrumentation());
  auto result = manager.Run(input.module(), options);
  if (!result) return Annotate(flags.model, result.takeError());
  if (!flags.output.empty()) {
    RETURN_IF_ERROR(
        WriteGraph(input.module(), flags.output, TopologicalOrder(input.module().main)));
  }
  if (!flags.partitions.empty()) {
    RETURN_IF_ERROR(Split(flags, input, kernels, os));
    options.passes = {"partition"};
    auto split = manager.Run(input.module(), options);
    if (!split) return Annotate(flags.model, split.takeError());
  }
  return ledger ? ledger->Commit() : Error::success();
}

// The main graph, or the body of --function.
Expected<const Graph*> BodyOf(const Flags& flags, const Module& module) {
  if (flags.function.empty()) return &module.main;
  auto function = FindFunction(module, flags.function);
  if (!function) return Annotate(flags.model, function.takeError());
  if (flags.Writes())
    return MakeError(
        "--function: TensorFlow places a function's body anew for each call, so there "
        "is nothing to write (-o, --dump-dir and --ledger are for the main graph)");
  return &(*function)->body;
}

// The devices of a log instead of those of the placer.
Error WriteLogged(const Flags& flags, OpenedGraph& input, llvm::ArrayRef<std::string> logged) {
  Graph& graph = input.module().main;
  for (Node node : graph.nodes()) {
    if (!logged[node.id()].empty()) graph.SetDevice(node.id(), logged[node.id()]);
  }
  return WriteGraph(input.module(), flags.output, TopologicalOrder(graph));
}

// "hard" and "soft" among the devices of --what-if are no devices.
Expected<PlacerSettings> OtherSettings(const Flags& flags) {
  PlacerSettings settings = flags.settings;
  std::string devices;
  for (const std::string& item : SplitList(flags.what_if)) {
    if (item == "hard" || item == "soft") {
      settings.soft = item == "soft";
    } else {
      devices += (devices.empty() ? "" : ",") + item;
    }
  }
  if (!devices.empty()) settings.devices = devices;
  return settings;
}

std::string Title(const PlacerSettings& settings) {
  return settings.devices + (settings.soft ? " (soft)" : " (hard)");
}

Error Compare(const Flags& flags, const PlacementContext& context, llvm::raw_ostream& os) {
  ASSIGN_OR_RETURN(PlacerSettings settings, OtherSettings(flags));
  auto setup = PlacerSetup::Make(settings);
  if (!setup) return Annotate("--what-if", setup.takeError());
  Placement placement = Place(context.graph, setup->devices, *setup->kernels, setup->options);
  PlacementContext other{context.graph, setup->devices, *setup->kernels, setup->options, placement};
  os << MovesText(context, Title(flags.settings), other, Title(settings));
  return Error::success();
}

Error Explain(const Flags& flags, const PlacementContext& context, llvm::raw_ostream& os) {
  for (const std::string& name : flags.explain) {
    auto node = FindNode(context.graph, name);
    if (!node) return Annotate(flags.model + ": --explain", node.takeError());
    os << ExplainNode(context, *node);
  }
  return Error::success();
}

// What was asked for, of a graph that could be placed; the log's lines when nothing was.
Error PrintPlacement(const Flags& flags, const PlacementContext& context, const PlacementLog& log,
                     llvm::ArrayRef<std::string> logged, llvm::raw_ostream& os) {
  if (flags.table) {
    os << PlacementTables(context,
                          MakePlacementReport(context.graph, context.devices, context.placement));
  }
  if (flags.report) {
    os << CostTables(context, MakeCostReport(context.graph, context.devices, context.placement));
  }
  if (flags.nodes) os << NodeTable(context, logged);
  if (!flags.log.empty()) os << LogText(context, log, logged);
  if (flags.table || flags.report || flags.nodes || flags.Writes() || !flags.log.empty() ||
      !flags.explain.empty() || !flags.what_if.empty())
    return Error::success();
  for (NodeId id : context.placement.order) {
    os << PlacementLogLine(context.graph.node(id),
                           context.devices.device(context.placement.Of(id).device).text)
       << "\n";
  }
  return Error::success();
}

void PrintJson(const Flags& flags, const PlacementContext& context,
               llvm::ArrayRef<std::string> logged, llvm::raw_ostream& os) {
  llvm::json::OStream json(os);
  std::optional<PlacementReport> report;
  std::optional<CostReport> cost;
  if (flags.table && !context.placement.failure)
    report = MakePlacementReport(context.graph, context.devices, context.placement);
  if (flags.report && !context.placement.failure)
    cost = MakeCostReport(context.graph, context.devices, context.placement);
  WritePlacementJson(json, context, logged, report ? &*report : nullptr, cost ? &*cost : nullptr);
  os << "\n";
}

Error WritePage(const Flags& flags, const PlacementContext& context, const std::string& title) {
  PageSet pages;
  pages.Add(std::make_unique<PlacementPage>(context, title));
  ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(flags.html));
  RETURN_IF_ERROR(WriteHtmlFile(pages, title, file->os()));
  return file->Commit();
}

Expected<int> RunOn(OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(PlacerSetup setup, PlacerSetup::Make(flags.settings));
  RETURN_IF_ERROR(DemandValid(input, invocation.sink()));
  ASSIGN_OR_RETURN(const Graph* body, BodyOf(flags, input.module()));
  const Graph& graph = *body;
  Placement placement = Place(graph, setup.devices, *setup.kernels, setup.options);
  PlacementContext context{graph, setup.devices, *setup.kernels, setup.options, placement};
  PlacementLog log;
  std::vector<std::string> logged;
  if (!flags.log.empty()) {
    ASSIGN_OR_RETURN(log, ReadPlacementLog(flags.log));
    ASSIGN_OR_RETURN(logged, PutOnGraph(log, flags.log, graph));
  }
  bool stdout_is_free = flags.output != "-" && flags.ledger != "-";
  llvm::raw_ostream& os = stdout_is_free ? invocation.out() : llvm::errs();
  if (invocation.flags.json) PrintJson(flags, context, logged, os);
  llvm::raw_ostream& text = invocation.flags.json ? llvm::nulls() : os;
  RETURN_IF_ERROR(Explain(flags, context, text));
  if (!flags.what_if.empty()) RETURN_IF_ERROR(Compare(flags, context, text));
  if (placement.failure) {
    if (!invocation.flags.json)
      llvm::errs() << "grapnel: " << flags.model << ": " << ExplainFailure(context);
    return kExitNo;
  }
  RETURN_IF_ERROR(PrintPlacement(flags, context, log, logged, text));
  if (!flags.html.empty()) RETURN_IF_ERROR(WritePage(flags, context, input.name()));
  if (!flags.log.empty() && !flags.output.empty()) {
    RETURN_IF_ERROR(WriteLogged(flags, input, logged));
  } else if (flags.function.empty() && (flags.Writes() || std::getenv("TF_DUMP_GRAPH_PREFIX"))) {
    RETURN_IF_ERROR(RunStages(flags, input, *setup.kernels, invocation.sink(), text));
  }
  return kExitOk;
}

Expected<int> Run(const Flags& given, Invocation& invocation) {
  Flags flags = given;
  flags.settings.soft = !flags.hard;
  return OnEachGraph(flags.model, flags.graph,
                     {flags.output, flags.html, flags.dump_dir, flags.ledger, flags.partitions},
                     invocation,
                     [&](OpenedGraph& input) { return RunOn(input, flags, invocation); });
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to place").Required();
  line.Option("--graph", flags->graph,
              "which graph of a file with several: its title as `info` shows it");
  line.Option("--function", flags->function,
              "place this function's body, as for a call from the default device")
      .ShownAs("NAME");
  line.Option("--devices", flags->settings.devices,
              "what there is: names, counts like cpu:1,gpu:2, or a cluster file (JSON)")
      .Required()
      .ShownAs("D,...");
  line.Flag("--hard", flags->hard, "a request that cannot be met is an error, not replaced");
  line.Option("--default-device", flags->settings.default_device,
              "taken wherever it is possible: the device a function is called on");
  line.Option("--kernels", flags->settings.kernels, "whose kernels say what can run where")
      .OneOf({"tensorflow", "grapnel"})
      .ShowDefault();
  line.Option("--explain", flags->explain, "why these nodes are where they are")
      .Separator(',')
      .ShownAs("NODE,...");
  line.Flag("--table", flags->table,
            "nodes by scope and device, tensors that cross, CPU islands, memory");
  line.Flag(
      "--report", flags->report,
      "what a run would take, by a stated model: devices, links, the chain that takes the time");
  line.Flag("--nodes", flags->nodes, "requested, assigned and logged device of each node");
  line.Option("--what-if", flags->what_if,
              "what moves with other devices, or with `hard` or `soft`")
      .ShownAs("D,...");
  line.Option("--log", flags->log,
              "a log of log_device_placement: where it differs; its devices go to -o");
  line.Option("-o,--output", flags->output,
              "where the placed graph goes: .pb or .pbtxt, each also .gz; - for standard output");
  line.Option(
      "--partitions", flags->partitions,
      "a folder for the graph of each device, with sends and receives, as TensorFlow splits it");
  line.Option("--html", flags->html,
              "a page: final devices in colours, what crosses, why each node is there")
      .ShownAs("FILE");
  line.Option("--dump-dir", flags->dump_dir, "dump the graph before and after, as any pass");
  line.Option("--ledger", flags->ledger, "every node that was placed as a line of JSON");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("place", "says on which device each node runs, as TensorFlow places it, and why",
                "place model.pb --devices cpu:1,gpu:2 --explain dense/kernel", SetUp);

}  // namespace
}  // namespace grapnel
