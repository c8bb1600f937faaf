// `grapnel place MODEL`: shows where each node runs, and why.
#include "lib/job/place.h"

#include "lib/ir/find.h"
#include "lib/ir/name_parts.h"
#include "lib/ir/node_instances.h"
#include "lib/ir/short_names.h"
#include "lib/job/function_signature.h"
#include "lib/job/layer_placement.h"
#include "lib/job/logged_placement.h"
#include "lib/job/name_resolver.h"
#include "lib/job/placement_history.h"
#include "lib/place/cost_text.h"
#include "lib/place/log_text.h"
#include "lib/place/placement_json.h"
#include "lib/place/placement_text.h"
#include "lib/serve/pages/placement_page.h"
#include "lib/serve/routes/html_file.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/document.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, function, signature, log, history, what_if, html;
  PlacementFiles files;
  std::vector<std::string> explain;
  PlacerSettings settings;
  bool hard = false, as_it_stands = false, as_if = false, variables_stay = false, table = false,
       nodes = false, report = false;

  // True if a file is written; the placement is then not printed as log lines.
  bool Writes() const {
    return !html.empty() || !files.graph.empty() || !files.dump_folder.empty() ||
           !files.ledger.empty() || !files.partitions.empty();
  }
  PlaceRequest Request(const PlacerSettings& with) const {
    return {with, function, signature, as_it_stands, variables_stay};
  }
};

Error Compare(const Flags& flags, const OpenedGraph& input, const PlacementContext& context,
              llvm::raw_ostream& os) {
  PlacerSettings settings = WithChanges(flags.settings, flags.what_if);
  auto view = OpenForPlacing(input, flags.Request(settings));
  if (!view) return Annotate("--what-if", view.takeError());
  ASSIGN_OR_RETURN(PlacedGraph other,
                   PlaceGraph(view->graph(input), view->settings, view->own ? "" : view->function));
  os << MovesText(context, TitleOf(flags.settings), other.context(), TitleOf(settings));
  return Error::success();
}

// Reads what the flags request: the log and, from dumps and ledgers, the history of the graphs.
Expected<LoggedPlacement> ReadLogged(const Flags& flags, OpenedGraph& input, PlacedGraphs& placed) {
  LoggedPlacement logged;
  bool is_asked = !flags.log.empty() || !flags.explain.empty();
  if (is_asked || !flags.history.empty()) {
    ASSIGN_OR_RETURN(logged.story, StoryOf(input, flags.history));
  }
  if (flags.log.empty()) return std::move(logged);
  auto read = [&](llvm::ArrayRef<LogTarget> targets) {
    return ReadPlacementLog(flags.log, targets);
  };
  RETURN_IF_ERROR(PutLogOn(read, /*has_folder=*/true, input, &placed, &logged));
  return std::move(logged);
}

struct Instance {
  size_t graph;
  Node node;
};

// Returns what stands in front of the names of a graph's nodes to tell them from those of the other
// graphs: the name of a node that calls it, or if this one calls several graphs, its function.
std::string PathOf(const PlacedGraphs& placed, size_t graph) {
  if (graph == 0) return "";
  auto caller_of = [](const PlacedCall& call) {
    return call.nodes.empty() ? "" : call.nodes.front();
  };
  const PlacedCall& mine = placed.calls[graph - 1];
  std::string caller = caller_of(mine);
  bool is_alone = llvm::count_if(placed.calls, [&](const PlacedCall& call) {
                    return caller_of(call) == caller;
                  }) == 1;
  return (is_alone && !caller.empty() ? caller : mine.function) + "/";
}

std::vector<Instance> InstancesOf(const PlacedGraphs& placed, llvm::StringRef name) {
  std::vector<Instance> found;
  for (size_t i = 0; i < placed.size(); ++i) {
    std::string path = PathOf(placed, i);
    for (const Node& node : placed.of(i).graph->nodes()) {
      if (path + node.name().str() == name) return {{i, node}};
    }
    llvm::StringRef function = i > 0 ? llvm::StringRef(placed.calls[i - 1].function) : "";
    std::vector<Node> nodes = InstancesOf(*placed.of(i).graph, function, name);
    for (const Node& node : placed.of(i).graph->nodes()) {
      bool is_in_path = !path.empty() && EndsWithParts(name, node.name()) &&
                        EndsWithParts(path + node.name().str(), name);
      if (is_in_path && !llvm::is_contained(nodes, node)) nodes.push_back(node);
    }
    for (const Node& node : nodes) found.push_back({i, node});
  }
  return found;
}

constexpr size_t kMostExplained = 8;

void ExplainWithWay(const PlacedGraphs& placed, const LoggedPlacement& logged, const Instance& at,
                    llvm::raw_ostream& os) {
  PlacementContext context = placed.of(at.graph).context();
  os << ExplainNode(context, at.node);
  if (at.graph == 0 && llvm::is_contained(placed.view.assumed, at.node.name())) {
    os << "  - " << kAssumedText << "\n";
  }
  os << WayOfNode(context, logged.log ? &*logged.log : nullptr, logged.of(at.graph),
                  logged.story_of(at.graph), at.node.name());
}

// Returns the nodes that a name means in the graph itself, as the graph has them: those of a layer,
// a pattern, or one node; of a pattern also those in the functions that the graph calls. Empty if
// there are none. Errors: a name that fits several.
Expected<std::vector<Instance>> NodesNamed(const PlacedGraphs& placed, const OpenedGraph& graph,
                                           const std::string& name) {
  ASSIGN_OR_RETURN(NodeSelection named, NameResolver(graph).Nodes(name, /*may_come=*/true));
  std::vector<Instance> found;
  for (const Node& node : named.nodes())
    if (&node.graph() == placed.main.graph) found.push_back({0, node});
  ASSIGN_OR_RETURN(Glob glob, Glob::Parse(name));
  if (glob.IsName()) return found;
  for (size_t i = 1; i < placed.size(); ++i) {
    std::string path = PathOf(placed, i);
    for (const Node& node : placed.of(i).graph->nodes()) {
      bool fits =
          AnyEnd(path + node.name().str(), [&](llvm::StringRef end) { return glob.Fits(end); });
      if (fits) found.push_back({i, node});
    }
  }
  return found;
}

Error ExplainOne(const Flags& flags, const PlacedGraphs& placed, const LoggedPlacement& logged,
                 const OpenedGraph& graph, const std::string& name, llvm::raw_ostream& os) {
  auto node = FindNode(*placed.main.graph, name);
  if (node) {
    ExplainWithWay(placed, logged, {0, *node}, os);
    return Error::success();
  }
  std::vector<Instance> found = InstancesOf(placed, name);
  if (found.empty()) {
    auto named = NodesNamed(placed, graph, name);
    if (!named) {
      llvm::consumeError(node.takeError());
      return Annotate(flags.model + ": --explain", named.takeError());
    }
    found = std::move(*named);
  }
  std::string way = WayOfNode(placed.main.context(), logged.log ? &*logged.log : nullptr,
                              logged.of(0), logged.story, name);
  if (found.empty() && way.empty()) return Annotate(flags.model + ": --explain", node.takeError());
  if (!way.empty()) os << "'" << name << "' is not in this graph\n" << way;
  llvm::consumeError(node.takeError());
  if (found.size() > 1) os << "'" << name << "' is " << Plural(found.size(), "node") << " here\n";
  for (size_t i = 0; i < std::min(found.size(), kMostExplained); ++i) {
    if (found[i].graph > 0) os << "in " << placed.Title(found[i].graph) << ":\n";
    ExplainWithWay(placed, logged, found[i], os);
  }
  if (found.size() > kMostExplained) {
    os << "not shown: " << found.size() - kMostExplained << " more, such as '"
       << found[kMostExplained].node.name() << "'\n";
  }
  return Error::success();
}

Error Explain(const Flags& flags, const PlacedGraphs& placed, const LoggedPlacement& logged,
              const OpenedGraph& graph, llvm::raw_ostream& os) {
  for (const std::string& name : flags.explain)
    RETURN_IF_ERROR(ExplainOne(flags, placed, logged, graph, name, os));
  return Error::success();
}

// Prints lines in the order of TensorFlow's log: first the graph, then the functions that it calls.
void PrintLogs(const PlacedGraphs& placed, llvm::raw_ostream& os) {
  std::vector<std::string> known, paths;
  for (size_t i = 0; i < placed.size(); ++i) {
    paths.push_back(PathOf(placed, i));
    for (Node node : placed.of(i).graph->nodes()) known.push_back(paths[i] + node.name().str());
  }
  const ShortNames names = ShortNames::WithScopes(std::move(known));
  for (size_t i = 0; i < placed.size(); ++i) {
    const PlacementContext context = placed.of(i).context();
    for (NodeId id : context.placement.order) {
      Node node = context.graph.node(id);
      std::string name = names.EndOf(paths[i] + node.name().str(), node.name());
      WritePlacementLogLine(name, node.op(),
                            context.devices.device(context.placement.Of(id).device).text, os);
    }
    if (i > 0 || !placed.view.own || placed.view.function.empty()) continue;
    os << "Executing op " << placed.view.function << " in device "
       << placed.view.settings.default_device << "\n";
  }
}

bool IsFunction(const Graph& graph) {
  for (Node node : graph.nodes()) {
    if (node.op() == "_Arg" || node.op() == "_Retval") return true;
  }
  return false;
}

void PrintLogged(const PlacedGraphs& placed, const LoggedPlacement& logged, llvm::raw_ostream& os) {
  for (size_t i = 0; i < logged.devices.graphs.size(); ++i) {
    if (i > 0) os << placed.Title(i) << ": ";
    os << LogText(placed.of(i).context(), *logged.log, *logged.of(i), logged.story_of(i));
  }
  os << OthersText(logged.devices);
  if (!IsFunction(*placed.main.graph)) os << EagerText(*logged.log);
}

std::vector<LayerPlacement> LayersOfPlaced(const PlacedGraphs& placed, const OpenedGraph& input) {
  const LayerNames names(input.file());
  std::vector<LayerPlacement> layers;
  for (size_t i = 0; i <= placed.calls.size(); ++i)
    AddPlacement(placed.of(i).context(), i > 0 ? llvm::StringRef(placed.calls[i - 1].function) : "",
                 names, &layers);
  return layers;
}

// Prints what the flags request of a placed graph; log lines by default.
Error PrintPlacement(const Flags& flags, const PlacedGraphs& placed, const LoggedPlacement& logged,
                     const OpenedGraph& input, llvm::raw_ostream& os) {
  PlacementContext context = placed.main.context();
  bool has_other = flags.nodes || flags.report || flags.Writes() || !flags.log.empty() ||
                   !flags.explain.empty() || !flags.what_if.empty();
  if (flags.table || !has_other)
    WriteLayerPlacements(LayersOfPlaced(placed, input), flags.table, os);
  if (flags.table) {
    os << PlacementTables(context, MakePlacementReport(context));
  }
  if (flags.report) {
    os << CostTables(context, MakeCostReport(context));
  }
  if (flags.nodes) os << NodeTable(context, logged.main());
  if (logged.log) PrintLogged(placed, logged, os);
  if (!flags.table && !has_other) PrintLogs(placed, os);
  return Error::success();
}

void PrintJson(const Flags& flags, const PlacedGraphs& placed, const LoggedPlacement& logged,
               const OpenedGraph& input, llvm::raw_ostream& os) {
  PlacementContext context = placed.main.context();
  std::optional<PlacementReport> report;
  std::optional<CostReport> cost;
  std::optional<LogFindings> findings;
  if (flags.table && !context.placement.failure) report = MakePlacementReport(context);
  if (flags.report && !context.placement.failure) cost = MakeCostReport(context);
  if (logged.log) findings.emplace(LogFindings{*logged.log, *logged.of(0), logged.story});
  PlacementExtras extras{findings ? &*findings : nullptr, report ? &*report : nullptr,
                         cost ? &*cost : nullptr, placed.view.assumed};
  auto write = [&](llvm::json::OStream& json) {
    WritePlacementJson(json, context, extras);
    WriteLayerPlacementsJson(LayersOfPlaced(placed, input), json);
  };
  WriteDocument(os, write, {.on_one_line = true});
}

Error WritePage(const Flags& flags, const PlacementContext& context, const std::string& title,
                int threads) {
  PageSet pages;
  pages.Add(std::make_unique<PlacementPage>(context, title));
  return SaveHtmlFile(pages, title, threads, flags.html);
}

// Writes the requested files of a placed graph.
Error Write(const Flags& flags, const PlacedGraphs& placed, llvm::ArrayRef<std::string> logged,
            OpenedGraph& graph, Invocation& invocation, llvm::raw_ostream& os) {
  const PlacedGraph& main = placed.main;
  std::string nodes = Plural(main.graph->num_nodes(), "node");
  if (!flags.html.empty()) {
    RETURN_IF_ERROR(WritePage(flags, main.context(), graph.name(), invocation.flags.threads));
    invocation.Wrote(flags.html, nodes);
  }
  const PlacementFiles& files = flags.files;
  if (!logged.empty() && !files.graph.empty()) {
    RETURN_IF_ERROR(WriteLogged(graph, logged, files.graph));
    invocation.Wrote(files.graph, nodes);
    return Error::success();
  }
  if (main.graph != &graph.module().main) return Error::success();
  ASSIGN_OR_RETURN(
      std::vector<PartitionSize> parts,
      WritePlaced(graph, placed.view.settings, *main.setup.kernels, files, invocation.sink()));
  if (!parts.empty()) {
    std::vector<std::vector<std::string>> rows = {{"device", "nodes", "sends", "receives"}};
    for (const PartitionSize& part : parts) {
      rows.push_back(
          {part.device, WithCommas(part.nodes), WithCommas(part.sends), WithCommas(part.receives)});
    }
    os << Table(rows);
  }
  invocation.Wrote(files.graph, nodes);
  invocation.Wrote(files.partitions, Plural(parts.size(), "graph"));
  invocation.Wrote(files.dump_folder);
  invocation.Wrote(files.ledger);
  return Error::success();
}

int ReportFailure(const PlacementContext& context, const std::string& where,
                  Invocation& invocation) {
  if (!invocation.flags.json)
    invocation.err() << "grapnel: " << where << ": " << ExplainFailure(context);
  return kExitNo;
}

// Warns of unreadable parts of the log, and of assumptions.
void ReportMissing(const PlacedGraphs& placed, const LoggedPlacement& logged,
                   const MessageSink& sink) {
  if (logged.log) {
    for (const std::string& problem : LogProblems(*logged.log)) sink(Severity::kWarning, problem);
  }
  if (placed.main.placement.failure) return;
  std::string assumed = AssumedText(placed.view, placed.main.context());
  if (!assumed.empty()) sink(Severity::kWarning, assumed);
}

Expected<int> RunOn(OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(CheckValid(input, invocation.sink()));
  if (flags.as_if) {
    int64_t dropped = DropPlacedDevices(input);
    invocation.sink()(Severity::kInfo, "--as-if: " + Plural(dropped, "node") + " had a device");
  }
  ASSIGN_OR_RETURN(PlacedGraphs placed, PlaceWithCalls(input, flags.Request(flags.settings)));
  if (!placed.view.own && !flags.function.empty() && flags.Writes()) {
    return MakeError(
        "--as-it-stands: an unchanged function body is not a graph of its own, so it cannot be "
        "written (-o, --partitions, --html, --dump-dir and --ledger)");
  }
  ASSIGN_OR_RETURN(LoggedPlacement logged, ReadLogged(flags, input, placed));
  PlacementContext context = placed.main.context();
  ReportMissing(placed, logged, invocation.sink());
  bool stdout_is_free = flags.files.graph != "-" && flags.files.ledger != "-";
  llvm::raw_ostream& os = stdout_is_free ? invocation.out() : invocation.err();
  if (invocation.flags.json) PrintJson(flags, placed, logged, input, os);
  llvm::raw_ostream& text = invocation.flags.json ? llvm::nulls() : os;
  RETURN_IF_ERROR(Explain(flags, placed, logged, placed.view.graph(input), text));
  if (!flags.what_if.empty()) RETURN_IF_ERROR(Compare(flags, input, context, text));
  if (context.placement.failure) return ReportFailure(context, flags.model, invocation);
  for (size_t i = 1; i <= placed.calls.size(); ++i) {
    PlacementContext call = placed.of(i).context();
    if (call.placement.failure)
      return ReportFailure(call, flags.model + ": " + placed.Title(i), invocation);
  }
  RETURN_IF_ERROR(PrintPlacement(flags, placed, logged, input, text));
  RETURN_IF_ERROR(Write(flags, placed, logged.main(), placed.view.graph(input), invocation, text));
  return kExitOk;
}

// If `function` is one of the model's objects, makes it the signature to place, and clears the
// name.
Error UseObjectFunction(std::string* function, OpenedGraph* input) {
  if (function->empty() || !IsObjectFunction(*function, *input)) return Error::success();
  RETURN_IF_ERROR(UseFunction(*function, input).takeError());
  function->clear();
  return Error::success();
}

Expected<int> Run(const Flags& given, Invocation& invocation) {
  Flags flags = given;
  flags.settings.soft = !flags.hard;
  flags.settings.words = {"--devices", "--hard", "--explain"};
  return OnEachGraph(flags.model, flags.graph,
                     {flags.files.graph, flags.html, flags.files.dump_folder, flags.files.ledger,
                      flags.files.partitions},
                     invocation, [&](OpenedGraph& input) -> Expected<int> {
                       Flags own = flags;
                       RETURN_IF_ERROR(UseObjectFunction(&own.function, &input));
                       return RunOn(input, own, invocation);
                     });
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to place").Required();
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  line.Option("--signature", flags->signature,
              "the signature of a SavedModel whose function to place");
  line.Option("--function", flags->function,
              "place the body of this function, of a SavedModel's objects or of the library, as if "
              "called from the default device");
  line.Flag("--saved-variable-devices", flags->variables_stay,
            "place variables on the devices on which they were saved, as loading a SavedModel with "
            "that variable policy does");
  line.Flag("--as-it-stands", flags->as_it_stands,
            "place the graph unchanged; without this flag, calls are inlined and control flow is "
            "lowered first, as in TensorFlow");
  line.Option("--devices", flags->settings.devices,
              "the available devices: names, counts like cpu:1,gpu:2, or a cluster file (JSON)")
      .Required()
      .ShownAs("D,...");
  line.Flag("--hard", flags->hard,
            "an unsatisfiable request is an error instead of being replaced");
  line.Option("--default-device", flags->settings.default_device,
              "the preferred device: the device on which a function is called");
  line.Option("--kernels", flags->settings.kernels,
              "the program whose kernels decide on which device types an op can run")
      .OneOf({"tensorflow", "tensorflow-2.16", "tensorflow-2.13", "grapnel"})
      .ShowDefault();
  line.Option("--explain", flags->explain,
              "explain the devices of these nodes, or of the nodes of these layers")
      .Separator(',')
      .ShownAs("NODE,...");
  line.Flag("--table", flags->table,
            "print nodes by scope and device, tensors copied between devices, CPU islands, memory");
  line.Flag(
      "--report", flags->report,
      "estimate the time of a run with a documented model: devices, links, the critical path");
  line.Flag("--nodes", flags->nodes,
            "print the requested, assigned and logged device of each node");
  line.Option("--what-if", flags->what_if,
              "show which nodes move with other devices, or with `hard` or `soft`")
      .ShownAs("D,...");
  line.Option("--log", flags->log,
              "a log of log_device_placement: show the differences; -o writes the logged devices");
  line.Option(
          "--history", flags->history,
          "dumps or a ledger that record what passes did to nodes; default: the dump's own folder")
      .ShownAs("FOLDER|FILE");
  line.Flag("--as-if", flags->as_if,
            "drop full device names, keep partial ones as requests, as if the graph had not been "
            "placed yet");
  line.Option("-o,--output", flags->files.graph,
              "output file for the placed graph: .pb, .pbtxt or .gtxt, each also .gz; - for "
              "standard output");
  line.Option(
      "--partitions", flags->files.partitions,
      "write each device's graph to this folder, with sends and receives, as TensorFlow splits it");
  line.Option("--html", flags->html,
              "write a page: final devices in colors, transfers, why each node is there")
      .ShownAs("FILE");
  line.Option("--dump-dir", flags->files.dump_folder,
              "dump the graph before and after placement, like any pass");
  line.Option("--ledger", flags->files.ledger, "write every placed node as a line of JSON");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("place", "shows on which device TensorFlow runs each node, and why",
                "place model.pb --devices cpu:1,gpu:2 --explain dense/kernel", SetUp);

}  // namespace
}  // namespace grapnel
