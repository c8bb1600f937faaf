// `grapnel place MODEL`: where each node runs, and why.
#include "lib/job/place.h"

#include "lib/ir/find.h"
#include "lib/place/cost_text.h"
#include "lib/place/placement_json.h"
#include "lib/place/placement_text.h"
#include "lib/serve/pages/html_file.h"
#include "lib/serve/pages/placement_page.h"
#include "lib/support/text.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, function, log, what_if, html;
  PlacementFiles files;
  std::vector<std::string> explain;
  PlacerSettings settings;
  bool hard = false, table = false, nodes = false, report = false;

  // Whether something is written; then the log's lines are not what was asked for.
  bool Writes() const {
    return !html.empty() || !files.graph.empty() || !files.dump_folder.empty() ||
           !files.ledger.empty() || !files.partitions.empty();
  }
};

Error Compare(const Flags& flags, const OpenedGraph& input, const PlacementContext& context,
              llvm::raw_ostream& os) {
  PlacerSettings settings = WithChanges(flags.settings, flags.what_if);
  auto other = PlaceGraph(input, {settings, flags.function});
  if (!other) return Annotate("--what-if", other.takeError());
  os << MovesText(context, TitleOf(flags.settings), other->context(), TitleOf(settings));
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
  return SaveHtmlFile(pages, title, flags.html);
}

// What was asked for as files, of a graph that could be placed.
Error Write(const Flags& flags, const PlacementContext& context, llvm::ArrayRef<std::string> logged,
            OpenedGraph& input, const MessageSink& sink, llvm::raw_ostream& os) {
  if (!flags.html.empty()) RETURN_IF_ERROR(WritePage(flags, context, input.name()));
  if (!logged.empty() && !flags.files.graph.empty())
    return WriteLogged(input, logged, flags.files.graph);
  if (!flags.function.empty()) return Error::success();
  ASSIGN_OR_RETURN(std::vector<PartitionSize> parts,
                   WritePlaced(input, flags.settings, context.kernels, flags.files, sink));
  if (parts.empty()) return Error::success();
  std::vector<std::vector<std::string>> rows = {{"device", "nodes", "sends", "receives"}};
  for (const PartitionSize& part : parts) {
    rows.push_back(
        {part.device, WithCommas(part.nodes), WithCommas(part.sends), WithCommas(part.receives)});
  }
  os << Table(rows);
  return Error::success();
}

Expected<int> RunOn(OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(DemandValid(input, invocation.sink()));
  ASSIGN_OR_RETURN(PlacedGraph placed, PlaceGraph(input, {flags.settings, flags.function}));
  if (!flags.function.empty() && flags.Writes()) {
    return MakeError(
        "--function: TensorFlow places a function's body anew for each call, so there "
        "is nothing to write (-o, --dump-dir and --ledger are for the main graph)");
  }
  PlacementContext context = placed.context();
  PlacementLog log;
  std::vector<std::string> logged;
  if (!flags.log.empty()) {
    ASSIGN_OR_RETURN(log, ReadPlacementLog(flags.log));
    ASSIGN_OR_RETURN(logged, PutOnGraph(log, flags.log, context.graph));
  }
  bool stdout_is_free = flags.files.graph != "-" && flags.files.ledger != "-";
  llvm::raw_ostream& os = stdout_is_free ? invocation.out() : invocation.err();
  if (invocation.flags.json) PrintJson(flags, context, logged, os);
  llvm::raw_ostream& text = invocation.flags.json ? llvm::nulls() : os;
  RETURN_IF_ERROR(Explain(flags, context, text));
  if (!flags.what_if.empty()) RETURN_IF_ERROR(Compare(flags, input, context, text));
  if (placed.placement.failure) {
    if (!invocation.flags.json)
      invocation.err() << "grapnel: " << flags.model << ": " << ExplainFailure(context);
    return kExitNo;
  }
  RETURN_IF_ERROR(PrintPlacement(flags, context, log, logged, text));
  RETURN_IF_ERROR(Write(flags, context, logged, input, invocation.sink(), text));
  return kExitOk;
}

Expected<int> Run(const Flags& given, Invocation& invocation) {
  Flags flags = given;
  flags.settings.soft = !flags.hard;
  flags.settings.words = {"--devices", "--hard", "--explain"};
  return OnEachGraph(flags.model, flags.graph,
                     {flags.files.graph, flags.html, flags.files.dump_folder, flags.files.ledger,
                      flags.files.partitions},
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
  line.Option(
      "-o,--output", flags->files.graph,
      "where the placed graph goes: .pb, .pbtxt or .gtxt, each also .gz; - for standard output");
  line.Option(
      "--partitions", flags->files.partitions,
      "a folder for the graph of each device, with sends and receives, as TensorFlow splits it");
  line.Option("--html", flags->html,
              "a page: final devices in colours, what crosses, why each node is there")
      .ShownAs("FILE");
  line.Option("--dump-dir", flags->files.dump_folder,
              "dump the graph before and after, as any pass");
  line.Option("--ledger", flags->files.ledger, "every node that was placed as a line of JSON");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("place", "says on which device each node runs, as TensorFlow places it, and why",
                "place model.pb --devices cpu:1,gpu:2 --explain dense/kernel", SetUp);

}  // namespace
}  // namespace grapnel
