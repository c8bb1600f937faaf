// `grapnel info MODEL`: shows what is in a file, and what is wrong with it.
#include <future>

#include "lib/check/coverage.h"
#include "lib/check/first_cause.h"
#include "lib/exec/inventory.h"
#include "lib/io/named_functions.h"
#include "lib/io/object_functions.h"
#include "lib/io/signature.h"
#include "lib/io/summary_json.h"
#include "lib/io/summary_text.h"
#include "lib/ir/find.h"
#include "lib/ir/text.h"
#include "lib/job/dump_folder_text.h"
#include "lib/job/graph_path.h"
#include "lib/job/layers_text.h"
#include "lib/job/model_run.h"
#include "lib/job/name_resolver.h"
#include "lib/job/run.h"
#include "lib/job/run_devices.h"
#include "lib/job/source.h"
#include "lib/job/value_rows.h"
#include "lib/job/values_text.h"
#include "lib/shape/inference.h"
#include "lib/shape/onednn_need.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_text.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/size_flags.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, node, line;
  ShownPart part;
  SizeFlags sizes;
  bool all = false, unsupported = false, kernels = false, devices = false, costs = false,
       values = false;
};

void WriteProblems(llvm::json::OStream& json, llvm::ArrayRef<std::string> lines) {
  json.attributeArray("problems", [&] {
    for (const std::string& line : lines) json.value(llvm::json::fixUTF8(line));
  });
}

struct Findings {
  Summary summary;
  FunctionLibrary library;
  std::vector<std::string> problems;
  OneDnnNeed onednn;
};

// Finds problems in parallel with the rest: both only read the graph, and take a while for a large
// graph.
Findings Examine(const OpenedGraph& input) {
  auto problems = std::async(std::launch::async, [&input] { return ProblemLines(input); });
  std::optional<ShapeMap> shapes;
  Summary summary = Summarize(input.module(), [&](Port port) {
    if (!shapes) shapes = InferShapes(input.module().main);
    return shapes->OfPort(port);
  });
  FunctionLibrary library = LibraryOf(input.file());
  OneDnnNeed onednn = FindOneDnnNeed(input.module());
  return {std::move(summary), std::move(library), problems.get(), std::move(onednn)};
}

void WriteCost(ModelRun& run, llvm::json::OStream& json) {
  json.attributeObject("run", [&] {
    RunCost cost = run.Cost();
    if (!run.signature().empty()) json.attribute("signature", llvm::json::fixUTF8(run.signature()));
    if (run.assumed_batch() > 0) json.attribute("assumed_batch", run.assumed_batch());
    json.attribute("flops", cost.flops);
    json.attribute("bytes", cost.bytes);
    json.attribute("peak_bytes", cost.peak_bytes);
    json.attribute("open", cost.open);
  });
}

// Writes whether the graph's fused nodes need TensorFlow with oneDNN; nothing for a graph without
// fused nodes.
void WriteOneDnn(const OneDnnNeed& need, llvm::json::OStream& json) {
  if (!need.has_fused) return;
  json.attributeObject("onednn", [&] {
    json.attribute("made_with", need.made_with);
    json.attribute("needed_by", static_cast<int64_t>(need.nodes));
    if (need.nodes == 0) return;
    json.attribute("first", llvm::json::fixUTF8(need.first));
    json.attribute("reason", llvm::json::fixUTF8(need.reason));
  });
}

void PrintOneDnn(const OneDnnNeed& need, llvm::raw_ostream& os) {
  if (!need.has_fused) return;
  if (need.nodes > 0)
    os << "\n" << need.Text() << "\n";
  else
    os << "\nfused" << (need.made_with ? " by TensorFlow with oneDNN" : "")
       << "; runs in TensorFlow with and without oneDNN\n";
}

// Returns the values of the graph, in numbers, with --values.
std::optional<std::vector<ValueRow>> ValuesOf(const OpenedGraph& opened, const Flags& flags,
                                              Invocation& invocation) {
  if (!flags.values || !opened.file().module) return std::nullopt;
  ThreadPool pool(invocation.flags.threads);
  std::vector<ValueRow> values = ValueRowsOf(opened, pool);
  std::string unknown = UnknownValuesText(values);
  if (!unknown.empty()) invocation.sink()(Severity::kWarning, flags.model + ": " + unknown);
  return values;
}

// For a graph that is only listed (in a dump folder), writes only the title.
void WriteOneGraph(const OpenedGraph& opened, ModelRun* run,
                   const std::optional<std::vector<ValueRow>>& values, llvm::json::OStream& json) {
  const GraphInFile& graph = opened.file();
  if (!graph.module) return json.attribute("title", llvm::json::fixUTF8(graph.title));
  Findings found = Examine(opened);
  WriteSummaryJson(graph, found.summary, found.library, json);
  WriteLayersJson(LayersOfModel(opened), json);
  if (run) WriteCost(*run, json);
  WriteOneDnn(found.onednn, json);
  if (values) WriteValuesJson(*values, json);
  WriteProblems(json, found.problems);
}

ShortNames NamesOf(const OpenedGraph& opened, const Findings& found,
                   llvm::ArrayRef<ValueRow> values) {
  std::vector<std::string> known = AllNodeNames(opened.module()), printed;
  for (const ValueRow& value : values) {
    printed.push_back(value.name);
    if (value.is_variable) known.push_back(value.name);
  }
  for (const ConstantSummary& constant : found.summary.largest_constants)
    printed.push_back(constant.name);
  for (const auto* tensors : {&found.summary.inputs, &found.summary.outputs})
    for (const TensorSummary& tensor : *tensors) printed.push_back(tensor.name);
  for (const LibraryFunction& function : found.library.functions)
    for (const FunctionArgument& argument : function.arguments) printed.push_back(argument.name);
  return ShortNames(std::move(known), printed);
}

void PrintCost(ModelRun& run, llvm::raw_ostream& os) {
  RunCost cost = run.Cost();
  const char* least = cost.open > 0 ? "at least " : "";
  os << "\none run" << run.Text() << "\n  " << least << WithCommas(cost.flops)
     << " FLOPs, tensors of " << least << HumanBytes(cost.bytes) << " in total, "
     << HumanBytes(cost.peak_bytes) << " at the peak\n";
  if (cost.open > 0)
    os << "  not counted: " << Plural(cost.open, "node")
       << " with an unknown shape or a loop (--shape, --batch)\n";
}

Expected<int> PrintUnsupported(const OpenedGraph& input, const Flags& flags,
                               Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  std::vector<UnsupportedOp> ops = UnsupportedOps(input.module(), "CPU");
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) { WriteUnsupportedJson(ops, json); });
  } else if (ops.empty()) {
    os << flags.model << ": every op runs on the CPU\n";
  } else {
    os << flags.model << ": cannot run: " << Plural(ops.size(), "op") << " without a kernel\n"
       << UnsupportedTable(ops);
  }
  return ops.empty() ? kExitOk : kExitNo;
}

void WriteNode(const Node& node, const LineTable::Stack& stack, llvm::json::OStream& json) {
  json.attribute("node", llvm::json::fixUTF8(NameWithFunction(node)));
  json.attribute("op", llvm::json::fixUTF8(node.op()));
  json.attributeBegin("stack");
  WriteStackJson(stack, json);
  json.attributeEnd();
}

void WriteNodes(llvm::ArrayRef<Node> nodes, const LineTable& lines, llvm::json::OStream& json) {
  json.attributeArray("nodes", [&] {
    for (const Node& node : nodes) json.object([&] { WriteNode(node, lines.StackOf(node), json); });
  });
}

// Prints the nodes that a name means, with their stack traces.
Error PrintNode(const OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(NodeSelection named, NameResolver(input).Nodes(flags.node));
  LineTable lines = LinesOf(input);
  llvm::raw_ostream& os = invocation.out();
  if (!invocation.flags.json) {
    for (const Node& node : named.nodes()) {
      os << NameWithFunction(node) << " (" << node.op() << ")\n  " << NodeText(node) << "\n";
      LineTable::Stack stack = lines.StackOf(node);
      if (stack.empty()) os << "  no known source line\n";
      WriteStack(stack, input.model().path, os);
    }
    return Error::success();
  }
  if (named.nodes().size() == 1) {
    const Node& node = named.nodes().front();
    WriteDocument(os,
                  [&](llvm::json::OStream& json) { WriteNode(node, lines.StackOf(node), json); });
    return Error::success();
  }
  WriteDocument(os, [&](llvm::json::OStream& json) {
    json.attribute("name", llvm::json::fixUTF8(flags.node));
    WriteNodes(named.nodes(), lines, json);
  });
  return Error::success();
}

// Prints the nodes that a source line created; without a line number, those of all lines of the
// file.
Error PrintLine(const OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  LineTable lines = LinesOf(input);
  auto nodes = NodesOfLine(lines, input.module(), flags.line);
  if (!nodes) return Annotate(flags.model, nodes.takeError());
  llvm::raw_ostream& os = invocation.out();
  if (!invocation.flags.json) {
    os << Plural(nodes->size(), "node") << " of " << flags.line << "\n";
    std::vector<std::vector<std::string>> rows;
    for (const Node& node : *nodes)
      rows.push_back(
          {"  " + NameWithFunction(node), node.op().str(), FrameText(*lines.LineOf(node))});
    os << Table(rows);
    return Error::success();
  }
  WriteDocument(os, [&](llvm::json::OStream& json) {
    json.attribute("line", llvm::json::fixUTF8(flags.line));
    WriteNodes(*nodes, lines, json);
  });
  return Error::success();
}

// Prints what --node or --line names, in the part that is shown or else anywhere in the file.
Error PrintPlace(OpenedGraph& input, const Flags& flags, Invocation& invocation) {
  const auto print = flags.node.empty() ? PrintLine : PrintNode;
  bool is_chosen = flags.part.is_chosen();
  auto shown = flags.part.Take({}, &input);
  if (!shown && is_chosen) return shown.takeError();
  if (!shown) llvm::consumeError(shown.takeError());  // no default: looks in the whole file
  Error error = print(input, flags, invocation);
  if (!error || is_chosen || &input.whole() == &input) return error;
  Error of_whole = print(input.whole(), flags, invocation);
  if (!of_whole) return llvm::consumeError(std::move(error)), Error::success();
  llvm::consumeError(std::move(of_whole));
  return error;
}

Expected<int> PrintDebugFolder(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(DebugFolder folder, ReadDebugFolder(flags.model));
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) { WriteDebugFolderJson(folder, json); });
  } else {
    auto count_bad = [](const DebugRun& run) { return FindCauses(run, 1).alerts.size(); };
    WriteDebugFolderText(folder, flags.all, count_bad, os);
  }
  return kExitOk;
}

// Returns all graphs of the file, or only the named graph.
Expected<std::vector<OpenedGraph>> GraphsToTell(const Flags& flags, const MessageSink& sink) {
  std::vector<OpenedGraph> graphs;
  if (!flags.graph.empty() || !ReadGraphPath(flags.model).title.empty()) {
    ASSIGN_OR_RETURN(OpenedGraph graph, OpenInput(flags.model, flags.graph, sink));
    graphs.push_back(std::move(graph));
    return graphs;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Model> model, OpenModelInput(flags.model));
  for (size_t i = 0; i < model->graphs.size(); ++i) graphs.emplace_back(model, i);
  return graphs;
}

// Makes the part to show the graph of `opened`. Returns a line about it, or "". A file without a
// default signature, or whose network cannot be extracted, is shown whole.
Expected<std::string> TakePart(const Flags& flags, const MessageSink& sink, OpenedGraph* opened) {
  bool is_chosen = flags.part.is_chosen();
  if (!is_chosen && !DefaultSignature(opened->file())) {
    RETURN_IF_ERROR(FillSizes(flags.sizes, {}, opened));
    if (!DistinctSignatures(opened->file()).empty())
      return std::string("shown: the whole file; the network of one signature: --signature NAME");
    Error only_functions = CheckHasSignature(opened->model(), opened->file());
    bool has_functions = static_cast<bool>(only_functions);
    llvm::consumeError(std::move(only_functions));
    return std::string(
        has_functions ? "shown: the whole file; the graph of one function: --function NAME" : "");
  }
  auto shown = flags.part.Take(flags.sizes, opened);
  if (shown && !shown->empty()) return "shown: " + *shown + "; the whole file: --whole";
  if (shown || is_chosen || !flags.sizes.empty()) return shown;
  sink(Severity::kWarning, "the whole file is shown: " + TextOf(shown.takeError()));
  return std::string();
}

// Lists the devices that `run --devices D,...` uses.
Expected<int> PrintLogicalDevices(const Flags& flags, Invocation& invocation) {
  RunRequest request;
  request.words.placer.devices = "--devices";
  ASSIGN_OR_RETURN(std::vector<LogicalDevice> devices, LogicalDevices(flags.model, request));
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) {
      json.attributeArray("devices", [&] {
        for (const LogicalDevice& device : devices) {
          json.object([&] {
            json.attribute("device", device.name);
            json.attribute("kind", device.kind);
            json.attribute("text", llvm::json::fixUTF8(device.text));
            if (device.is_simulated) json.attribute("simulated", true);
          });
        }
      });
    });
    return kExitOk;
  }
  for (const LogicalDevice& device : devices)
    os << device.name << (device.text.empty() ? "" : "  ") << device.text << "\n";
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.devices && !flags.model.empty()) return PrintLogicalDevices(flags, invocation);
  if (flags.devices || flags.kernels) {
    if (invocation.flags.json)
      WriteDocument(invocation.out(), flags.devices ? WriteDevicesJson : WriteKernelsJson);
    else
      (flags.devices ? WriteDevicesText : WriteKernelsText)(invocation.out());
    return kExitOk;
  }
  if (flags.model.empty()) return MakeError("MODEL is required (or --kernels, --devices)");
  if (flags.unsupported) {
    return OnEachGraph(flags.model, flags.graph, {}, invocation,
                       [&](OpenedGraph& input) -> Expected<int> {
                         RETURN_IF_ERROR(flags.part.Take({}, &input).takeError());
                         return PrintUnsupported(input, flags, invocation);
                       });
  }
  if (!flags.node.empty() || !flags.line.empty()) {
    if (!flags.node.empty() && !flags.line.empty())
      return MakeError("--node and --line cannot be combined: pass only one");
    return OnEachGraph(flags.model, flags.graph, {}, invocation,
                       [&](OpenedGraph& input) -> Expected<int> {
                         RETURN_IF_ERROR(PrintPlace(input, flags, invocation));
                         return kExitOk;
                       });
  }
  if (IsDebugFolder(flags.model)) return PrintDebugFolder(flags, invocation);
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, GraphsToTell(flags, invocation.sink()));
  std::vector<std::string> notes(graphs.size());
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (!graphs[i].file().module) continue;
    ASSIGN_OR_RETURN(notes[i], TakePart(flags, invocation.sink(), &graphs[i]));
  }
  std::vector<std::optional<ModelRun>> runs(graphs.size());
  for (size_t i = 0; i < graphs.size() && (flags.costs || !flags.sizes.empty()); ++i) {
    if (!graphs[i].file().module) continue;
    auto run = ModelRun::Of(graphs[i], "", /*assumed_batch=*/1);
    if (run)
      runs[i] = std::move(*run);
    else  // a broken graph, which is shown anyway
      invocation.sink()(Severity::kWarning,
                        "the cost of one run is unknown: " + TextOf(run.takeError()));
  }
  auto run_of = [&](const OpenedGraph& opened) -> ModelRun* {
    std::optional<ModelRun>& run = runs[&opened - graphs.data()];
    return run ? &*run : nullptr;
  };
  const Model& model = graphs.front().model();
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) {
      json.attribute("path", llvm::json::fixUTF8(flags.model));
      json.attribute("kind", FileKindName(model.kind));
      json.attributeArray("graphs", [&] {
        for (const OpenedGraph& opened : graphs)
          json.object([&] {
            WriteOneGraph(opened, run_of(opened), ValuesOf(opened, flags, invocation), json);
          });
      });
    });
    return kExitOk;
  }
  if (invocation.flags.quiet) {
    for (const OpenedGraph& opened : graphs) {
      if (!opened.file().module) continue;
      for (const std::string& problem : ProblemLines(opened)) os << problem << "\n";
      if (auto values = ValuesOf(opened, flags, invocation)) {
        std::string text = NotFiniteText(*values, {});
        if (!text.empty()) os << text << "\n";
      }
    }
    return kExitOk;
  }
  os << flags.model << ": " << FileKindName(model.kind);
  if (model.graphs.size() > 1) os << ", " << Plural(model.graphs.size(), "graph");
  os << "\n";
  if (!graphs.front().file().module) {  // a dump folder: a list of graphs, each opened separately
    ASSIGN_OR_RETURN(std::string text, DumpFolderText(model, flags.all));
    os << text;
    return kExitOk;
  }
  for (const OpenedGraph& opened : graphs) {
    const GraphInFile& graph = opened.file();
    if (!graph.title.empty()) os << "\n--- " << graph.title << "\n";
    const std::string& note = notes[&opened - graphs.data()];
    if (!note.empty()) os << "\n" << note << "\n";
    Findings found = Examine(opened);
    const std::vector<std::string>& problems = found.problems;
    const std::vector<ValueRow> values =
        ValuesOf(opened, flags, invocation).value_or(std::vector<ValueRow>());
    const ShortNames names = NamesOf(opened, found, values);
    if (std::string bad = NotFiniteText(values, names); !bad.empty()) os << "\n" << bad << "\n";
    if (std::string left_out = names.Note(); !left_out.empty()) os << "\n" << left_out << "\n";
    WriteSignaturesText(graph, os);
    ModelLayers layers = LayersOfModel(opened);
    WriteLayersText(layers, flags.all, flags.costs, os);
    if (!IsOfModel(graph) && !layers.table.empty()) os << "\n";
    WriteSummaryText(graph, found.summary, found.library, flags.all, os, names);
    PrintOneDnn(found.onednn, os);
    if (ModelRun* run = run_of(opened)) PrintCost(*run, os);
    WriteValuesText(values, flags.all, names, os);
    if (problems.empty()) continue;
    os << "\n" << Plural(problems.size(), "problem") << "\n";
    size_t shown = flags.all ? problems.size() : std::min<size_t>(problems.size(), 20);
    for (size_t i = 0; i < shown; ++i) os << "  " << problems[i] << "\n";
    if (shown < problems.size())
      os << "  ... and " << WithCommas(problems.size() - shown) << " more (--all)\n";
  }
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model,
              "any TensorFlow graph: a file, a folder, or - for standard input; or a debug folder; "
              "with --devices a list of devices");
  line.Flag("--all", flags->all, "show all lists in full");
  line.Flag("--unsupported", flags->unsupported,
            "list the ops without a kernel in `run`, and why (exit 1 if there are any)");
  line.Option("--graph", flags->graph,
              "only the graph with this title, as listed; for dumps FUNCTION:STAGE");
  flags->part.AddTo(line);
  line.Option(
          "--node", flags->node,
          "a node, or the nodes of a layer or a pattern: text and stack trace, with source text if "
          "the file can be read")
      .ShownAs("NAME");
  line.Option("--line", flags->line,
              "the nodes that a source line created; FILE is the end of its path, without LINE the "
              "whole file")
      .ShownAs("FILE:LINE");
  line.Flag("--costs", flags->costs,
            "show the FLOPs and memory of one run: of the default signature, with a batch of 1 if "
            "the batch size is unknown");
  flags->sizes.AddTo(line);
  line.Flag(
      "--values", flags->values,
      "show the smallest and largest element, the mean, the number of NaNs and a hash of each "
      "variable and constant");
  line.Flag("--kernels", flags->kernels, "list the ops that `run` supports, by device and dtype");
  line.Flag("--devices", flags->devices,
            "list the devices of this machine, and why there is no GPU if it has none; `info "
            "--devices gpu:4`: those that `run --devices gpu:4` uses");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("info", "shows what is in a model and what is wrong with it", "info model.pb",
                SetUp);

}  // namespace
}  // namespace grapnel
