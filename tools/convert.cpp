// `grapnel convert MODEL -o OUT [--to FORMAT]`: writes a graph for another tool.
#include "lib/render/convert.h"

#include "lib/diff/diff.h"
#include "lib/io/strip_constants.h"
#include "lib/ir/summary.h"
#include "lib/pass/device_renames.h"
#include "lib/support/text.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, other, graph, output, to, node_data = "op-cost";
  PartFlags part;
  std::vector<std::string> devices;
  bool no_values = false;
};

// Converts all graphs of a text file or a program to a text file.
Expected<int> WriteEach(llvm::MutableArrayRef<OpenedGraph> graphs, const ConvertOptions& options,
                        const Flags& flags, Invocation& invocation) {
  std::vector<TitledGraph> titled;
  for (OpenedGraph& graph : graphs) {
    WarnOfProblems(graph, invocation.sink());
    TitledGraph& one = titled.emplace_back();
    one = {graph.file().title, &graph.module(), options};
    ASSIGN_OR_RETURN(FeedsAndFetches tensors, FeedsAndFetchesOf(graph, {}, {}));
    one.options.feeds = std::move(tensors.feeds);
    one.options.fetches = std::move(tensors.fetches);
    if (flags.no_values) StripConstants(&graph.module());
  }
  RETURN_IF_ERROR(ConvertEach(titled, flags.output));
  invocation.Wrote(flags.output, Plural(graphs.size(), "graph"));
  return kExitOk;
}

// Rejects flags that have no effect with this format, so that users do not expect an effect.
Error CheckFlags(const Flags& flags, ConvertFormat format) {
  bool two = format == ConvertFormat::kSyncNavigation;
  if (two && flags.other.empty())
    return MakeError("--to sync-navigation takes two graphs: pass A and B");
  if (!two && !flags.other.empty())
    return MakeError("{0}: only --to sync-navigation takes a second graph", flags.other);
  if (two && flags.model == "-" && flags.other == "-")
    return MakeError("only one of the two graphs can come from standard input");
  return Error::success();
}

// True if files of this format can contain the values of constants. The other formats contain only
// node names, and numbers about nodes such as costs.
bool HoldsValues(ConvertFormat format) {
  return format != ConvertFormat::kNodeData && format != ConvertFormat::kSyncNavigation;
}

Error RenameDevices(const Flags& flags, OpenedGraph* graph, Invocation& invocation) {
  if (flags.devices.empty()) return Error::success();
  auto renames = DeviceRenames::Parse(flags.devices);
  if (!renames) return Annotate("--devices", renames.takeError());
  auto changed = renames->ApplyTo(&graph->module());
  if (!changed) return Annotate("--devices", Annotate(flags.model, changed.takeError()));
  invocation.sink()(Severity::kInfo,
                    flags.model + ": " + Plural(*changed, "node") + " on another device now");
  return Error::success();
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ConvertOptions options;
  ASSIGN_OR_RETURN(options.format, ConvertFormatOf(flags.to, flags.output));
  RETURN_IF_ERROR(CheckFlags(flags, options.format));
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs,
                   OpenEachInput(flags.model, flags.graph, invocation.sink()));
  for (OpenedGraph& graph : graphs) RETURN_IF_ERROR(RenameDevices(flags, &graph, invocation));
  if (graphs.size() > 1) {
    if (!flags.part.empty())
      return HoldsOneGraph(flags.part.signature.empty() ? "--function" : "--signature",
                           graphs.size());
    if (options.format != ConvertFormat::kText) return HoldsOneGraph(flags.output, graphs.size());
    return WriteEach(graphs, options, flags, invocation);
  }
  OpenedGraph& input = graphs.front();
  RETURN_IF_ERROR(flags.part.Take({}, &input));
  WarnOfProblems(input, invocation.sink());
  options.label = input.name();
  options.node_data =
      flags.node_data == "op-cost" ? NodeDataKind::kOpCost : NodeDataKind::kConstantBytes;
  if (!flags.part.empty() || options.format == ConvertFormat::kText) {
    ASSIGN_OR_RETURN(FeedsAndFetches tensors, FeedsAndFetchesOf(input, {}, {}));
    options.feeds = std::move(tensors.feeds);
    options.fetches = std::move(tensors.fetches);
  }
  if (flags.other.empty()) {
    if (flags.no_values && HoldsValues(options.format)) StripConstants(&input.module());
    RETURN_IF_ERROR(Convert(input.module(), options, flags.output));
    invocation.Wrote(flags.output, Plural(CountNodes(input.module()), "node"));
    return kExitOk;
  }
  ASSIGN_OR_RETURN(OpenedGraph other, OpenInput(flags.other, flags.graph, invocation.sink()));
  RETURN_IF_ERROR(flags.part.Take({}, &other));
  WarnOfProblems(other, invocation.sink());
  Diff diff = DiffModules(input.module(), other.module(), {});
  options.diff = &diff;
  RETURN_IF_ERROR(Convert(input.module(), options, flags.output));
  invocation.Wrote(flags.output);
  return kExitOk;
}

std::string FormatHelp() {
  std::string help = "the format; default: by OUT's suffix";
  for (const ConvertFormatInfo& info : ConvertFormats())
    help += (llvm::Twine(&info == ConvertFormats().begin() ? ": " : "; ") + info.name + ": " +
             info.meaning)
                .str();
  return help;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  line.WithoutJson();
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph").Required();
  line.Option("B", flags->other, "the second graph, for sync-navigation");
  line.Option("-o,--output", flags->output,
              "the output file, compressed if it ends in .gz; for event also a folder")
      .ShownAs("OUT")
      .Required();
  line.Option("--to", flags->to, FormatHelp().c_str()).ShownAs("FORMAT");
  line.Option("--node-data", flags->node_data,
              "with --to node-data: the number to write, estimated FLOPs or the bytes of constants")
      .OneOf({"op-cost", "constant-bytes"})
      .ShowDefault();
  line.Option("--devices", flags->devices,
              "the devices that nodes request: none removes them, OLD=NEW renames those that match "
              "the glob OLD")
      .Separator(',')
      .ShownAs("none|OLD=NEW,...");
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  flags->part.AddTo(line);
  AddNoValuesFlag(line, flags->no_values);
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("convert", "writes a graph in the format of another tool",
                "convert saved_model --to model-explorer -o model.json", SetUp);

}  // namespace
}  // namespace grapnel
