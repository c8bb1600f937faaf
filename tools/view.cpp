// `grapnel view MODEL -o FILE`: draws a picture of selected scopes and functions.
#include "lib/io/named_functions.h"
#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/summary.h"
#include "lib/job/function_signature.h"
#include "lib/job/name_resolver.h"
#include "lib/job/without_constants.h"
#include "lib/render/device_scopes.h"
#include "lib/render/draw_picture.h"
#include "lib/render/node_data.h"
#include "lib/render/page_address.h"
#include "lib/render/picture.h"
#include "lib/render/picture_json.h"
#include "lib/serve/pages/model_page.h"
#include "lib/serve/routes/html_file.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/Support/Path.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/size_flags.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, signature, output, format, path, hide,
      color_by = "op", direction = "down", group_by = "scope", aggregate = "max";
  std::vector<std::string> feeds, fetches, node_data;
  bool whole = false, no_values = false;
  SizeFlags sizes;
  ViewOptions view;
};

// Returns the picture format of the output; nullopt for JSON.
Expected<std::optional<PictureFormat>> FormatOf(const Flags& flags) {
  llvm::StringRef suffix = llvm::sys::path::extension(flags.output);
  llvm::StringRef name = flags.format.empty() ? suffix : llvm::StringRef(flags.format);
  if (auto format = ParsePictureFormat(name)) return format;
  if (name.ltrim('.') == "json") return std::nullopt;
  if (flags.output == "-") return MakeError("-o - requires --format dot, svg, png, html or json");
  return MakeError(
      "{0}: a picture must be .dot, .svg, .png, .html or .json, by its suffix or by --format",
      flags.output);
}

Error ReadPath(Flags& flags) {
  if (flags.path.empty()) return Error::success();
  auto [from, to] = llvm::StringRef(flags.path).split("..");
  if (from.empty() || to.empty())
    return MakeError("--path requires two nodes, A..B, not '{0}'", flags.path);
  flags.view.path_from = from.str();
  flags.view.path_to = to.str();
  return Error::success();
}

Error ReadHide(Flags& flags) {
  for (const std::string& what : SplitList(flags.hide)) {
    if (what == "control") {
      flags.view.hide_control = true;
    } else if (what == "constants") {
      flags.view.hide_constants = true;
    } else if (what == "shapes") {
      flags.view.hide_shapes = true;
    } else if (what == "main") {
      flags.view.hide_main = true;
    } else if (what == "resources") {
      flags.view.hide_handles = true;
    } else if (HiddenNodes::IsWord(what)) {
      if (Error error = flags.view.hidden.Add(what)) return Annotate("--hide", std::move(error));
    } else {
      const llvm::StringRef known[] = {"control", "resources", "constants", "shapes", "main"};
      return Annotate("--hide", NotFound("choice", what, known));
    }
  }
  return Error::success();
}

bool IsPage(const Flags& flags) {
  return flags.format.empty() ? llvm::StringRef(flags.output).ends_with(".html")
                              : flags.format == "html";
}

// Returns the title of a picture or page of one of `graphs`.
std::string TitleOf(const OpenedGraph& graph, llvm::ArrayRef<OpenedGraph> graphs) {
  return graph.name() + (graphs.size() > 1 ? ": " + graph.file().title : "");
}

// If one of the functions to open is one of the model's objects, makes it what is drawn, and drops
// its name from the list.
Error UseObjectFunction(std::vector<std::string>* functions, OpenedGraph* graph) {
  auto found = llvm::find_if(
      *functions, [&](const std::string& name) { return IsObjectFunction(name, *graph); });
  if (found == functions->end()) return Error::success();
  RETURN_IF_ERROR(UseFunction(*found, graph).takeError());
  functions->erase(found);
  return Error::success();
}

// Replaces a name of a node by the one that the graph has.
Error UseName(const OpenedGraph& graph, const std::string& signature, std::string* name) {
  if (name->empty()) return Error::success();
  auto node = NameResolver(graph, signature).OneNode(*name);
  if (!node) return Annotate(graph.model().path, node.takeError());
  *name = NameWithFunction(*node);
  return Error::success();
}

// Opens the graphs to draw, selects a function of the objects, sets the sizes that the flags give,
// and drops constants with --no-values. Errors: those of OpenEachInput, UseFunction and FillSizes;
// several graphs if `one_alone`; a graph lacks the signature; a name that fits no node, or several.
Expected<std::vector<OpenedGraph>> OpenForViewing(Flags& flags, Invocation& invocation,
                                                  bool one_alone) {
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs,
                   OpenEachInput(flags.model, flags.graph, invocation.sink()));
  if (graphs.size() > 1 && one_alone) return HoldsOneGraph(flags.output, graphs.size());
  if (graphs.size() == 1)
    RETURN_IF_ERROR(UseObjectFunction(&flags.view.functions, &graphs.front()));
  for (OpenedGraph& graph : graphs) {
    RETURN_IF_ERROR(FillSizes(flags.sizes, flags.signature, &graph));
    WarnOfProblems(graph, invocation.sink());
    if (flags.no_values) {
      ASSIGN_OR_RETURN(graph, WithoutConstants(std::move(graph)));
    }
    RETURN_IF_ERROR(ChooseSignature(graph.model(), graph.file(), flags.signature).takeError());
  }
  if (graphs.size() == 1) {
    for (std::string* name : {&flags.view.around, &flags.view.path_from, &flags.view.path_to})
      RETURN_IF_ERROR(UseName(graphs.front(), flags.signature, name));
  }
  return graphs;
}

void Warn(llvm::ArrayRef<std::string> notices, const Flags& flags, Invocation& invocation) {
  for (const std::string& notice : notices)
    invocation.sink()(Severity::kWarning, flags.model + ": " + notice);
}

// The page can open any scope itself, so it contains the whole graphs; open scopes, hidden nodes
// and the selected part are only its initial state.
Expected<int> WritePage(Flags& flags, Invocation& invocation) {
  bool part = !flags.view.around.empty() || !flags.view.path_from.empty();
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, OpenForViewing(flags, invocation, part));
  OpenRequest wanted{flags.view.scopes, flags.view.functions, flags.view.depth,
                     flags.view.max_boxes};
  std::vector<std::string> lacking;  // missing names by graph: not every stage needs to have all
  PageSet pages;
  for (OpenedGraph& graph : graphs) {
    auto address = PageAddress(graph.module(), flags.view, flags.hide);
    if (!address) return Annotate(flags.model, address.takeError());
    auto page = std::make_unique<ModelPage>(graph.module(), graph.file(), TitleOf(graph, graphs),
                                            flags.signature);
    page->AssumeBatch(graph);
    if (!flags.no_values) page->ShowValues(graph);
    page->OpenAt(std::move(*address));
    if (!wanted.empty()) {
      auto notices = page->OpenAs(wanted);
      if (!notices) {
        lacking.push_back(llvm::toString(notices.takeError()));
      } else {
        Warn(*notices, flags, invocation);
      }
    }
    pages.Add(std::move(page));
  }
  if (!lacking.empty() && lacking.size() == graphs.size())
    return Annotate(flags.model, MakeError("{0}", lacking[0]));
  for (const std::string& path : flags.node_data) RETURN_IF_ERROR(pages.AddNodeData(path));
  ASSIGN_OR_RETURN(std::vector<std::string> missing, pages.MissingNodes());
  for (const std::string& line : missing) invocation.sink()(Severity::kWarning, line);
  RETURN_IF_ERROR(
      SaveHtmlFile(pages, graphs.front().name(), invocation.flags.threads, flags.output));
  size_t nodes = 0;
  for (const OpenedGraph& graph : graphs) nodes += CountNodes(graph.module());
  invocation.Wrote(flags.output, Plural(nodes, "node"));
  return kExitOk;
}

// Reads the files of --node-data. A picture shows one set of numbers: the first set of the first
// file.
Expected<std::vector<NodeData>> ReadNumbers(const Flags& flags, const Module& module,
                                            Invocation& invocation) {
  std::vector<NodeData> first;
  for (const std::string& path : flags.node_data) {
    ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> file, FileBytes::Open(path));
    ASSIGN_OR_RETURN(std::vector<NodeData> data, ReadNodeData(file->bytes(), path));
    const Module* modules[] = {&module};
    auto missing = MissingNodes(data, modules);
    if (!missing) return Annotate(path, missing.takeError());
    if (!missing->empty()) invocation.sink()(Severity::kWarning, path + ": " + *missing);
    if (first.empty()) first = std::move(data);
  }
  return first;
}

// True if the flags select a part of the graph.
bool SelectsPart(const ViewOptions& view) {
  return !view.functions.empty() || !view.scopes.empty() || !view.around.empty() ||
         !view.path_from.empty();
}

// If the main graph is empty and the flags select nothing, selects at most kMostEntries entry
// functions to draw.
void BeginAtEntries(const OpenedGraph& input, ViewOptions* view) {
  constexpr size_t kMostEntries = 6;
  if (SelectsPart(*view) || input.module().main.num_nodes() > 0) return;
  FunctionLibrary library =
      ReadFunctionLibrary(input.module(), FunctionsNamedOutside(input.file()));
  std::vector<int> entries = library.Entries();
  for (int entry : llvm::ArrayRef(entries).take_front(kMostEntries))
    view->functions.push_back(library.functions[entry].function->name().str());
}

struct Drawn {
  std::string bytes;
  size_t nodes = 0;  // in boxes, or folded into them
};

Expected<Drawn> Draw(OpenedGraph& input, std::string title, Flags flags,
                     std::optional<PictureFormat> format, Invocation& invocation) {
  ViewOptions& view = flags.view;
  ASSIGN_OR_RETURN(FeedsAndFetches given,
                   FeedsAndFetchesOf(input, flags.feeds, flags.fetches, flags.signature));
  for (const auto* tensors : {&flags.feeds, &flags.fetches}) {
    for (const std::string& tensor : *tensors) {
      auto port = FindTensor(input.module().main, tensor);
      if (!port) return Annotate(flags.model, port.takeError());
    }
  }
  BeginAtEntries(input, &view);
  view.title = std::move(title);
  view.feeds = given.feeds;
  view.fetches = given.fetches;
  std::optional<SignatureBody> entry;
  const Signature* signature = nullptr;
  // A model that has only functions has no signature to draw, but parts of it can be drawn.
  bool has_signature = !llvm::all_of(input.file().signatures, IsInternal);
  if (!flags.whole && (has_signature || !SelectsPart(view))) {
    ASSIGN_OR_RETURN(signature, ChooseOneSignature(input.model(), input.file(), flags.signature));
  }
  if (signature) {
    entry = BodyOf(input.file(), *signature);
    view.entry = &*entry;
  }
  view.signature = view.entry;
  const BoxLayers layers(LayersOf(input.file()));
  view.layers = &layers;
  if (flags.group_by == "device") GroupByDevice(input.module(), view);
  ASSIGN_OR_RETURN(std::vector<NodeData> data, ReadNumbers(flags, input.module(), invocation));
  std::optional<NodeNumbers> numbers;
  if (!data.empty()) view.numbers = &numbers.emplace(data.front(), input.module());
  view.aggregate = *ParseAggregate(flags.aggregate);
  auto picture = MakePicture(input.module(), view);
  if (!picture) return Annotate(flags.model, picture.takeError());
  Warn(picture->notices, flags, invocation);
  for (const std::string& line : picture->header) invocation.sink()(Severity::kInfo, line);
  if (!format) {
    std::string text;
    llvm::raw_string_ostream os(text);
    WriteDocument(os, [&](llvm::json::OStream& json) { WritePictureJson(*picture, json); });
    return Drawn{os.str(), picture->counts.nodes};
  }
  ASSIGN_OR_RETURN(PictureFile file, DrawPicture(*picture, *format));
  if (!file.warning.empty())
    invocation.sink()(Severity::kWarning, flags.output + ": " + file.warning);
  return Drawn{std::move(file.bytes), picture->counts.nodes};
}

Expected<int> Run(Flags flags, Invocation& invocation) {
  RETURN_IF_ERROR(ReadPath(flags));
  RETURN_IF_ERROR(ReadHide(flags));
  ViewOptions& view = flags.view;
  view.color_by = flags.color_by == "device"  ? ColorBy::kDevice
                  : flags.color_by == "scope" ? ColorBy::kScope
                                              : ColorBy::kOp;
  view.direction = flags.direction == "up"      ? Direction::kUp
                   : flags.direction == "right" ? Direction::kRight
                                                : Direction::kDown;
  if (IsPage(flags)) return WritePage(flags, invocation);
  ASSIGN_OR_RETURN(std::optional<PictureFormat> format, FormatOf(flags));
  view.list_nodes = !format;
  // Only a DOT file can contain several pictures.
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs,
                   OpenForViewing(flags, invocation, format != PictureFormat::kDot));
  Drawn all;
  for (OpenedGraph& graph : graphs) {
    ASSIGN_OR_RETURN(Drawn drawn, Draw(graph, TitleOf(graph, graphs), flags, format, invocation));
    all.bytes += drawn.bytes;
    all.nodes += drawn.nodes;
  }
  RETURN_IF_ERROR(WriteFile(flags.output, all.bytes));
  invocation.Wrote(flags.output, Plural(all.nodes, "node"));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  line.WithoutJson();
  auto flags = std::make_shared<Flags>();
  ViewOptions& view = flags->view;
  line.Option("MODEL", flags->model,
              "any TensorFlow graph: a file, a folder, or - for standard input")
      .Required();
  line.Option(
          "-o,--output", flags->output,
          "output file for the picture: .dot, .svg, .png, .html or .json; - for standard output")
      .Required();
  line.Option("--format", flags->format, "dot, svg, png, html or json, whatever -o is called")
      .ShownAs("FORMAT");
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  line.Option("--scope", view.scopes, "open this scope (A/B, or FUNCTION/A/B); may be repeated");
  line.Option("--depth", view.depth, "open all scopes and called functions down to this depth")
      .Between(0, 1000000);
  line.Option("--function", view.functions,
              "draw this function of a SavedModel's objects, or open this one of the library, next "
              "to the op that calls it; may be repeated; all: every one");
  line.Option("--around", view.around,
              "draw only the surroundings of this node, or of the output of this layer");
  line.Option("--hops", view.hops, "maximum distance from --around, in edges")
      .Between(0, 1000000)
      .ShowDefault();
  line.Option("--path", flags->path, "draw only nodes on directed paths between two nodes: A..B");
  line.Option("--color-by", flags->color_by, "what fill colors mean")
      .OneOf({"op", "device", "scope"})
      .ShowDefault();
  line.Option("--node-data", flags->node_data,
              "numbers for nodes, to color boxes by: Model Explorer's node data, or a table (CSV) "
              "of nodes and values; may be repeated, for a page")
      .ShownAs("FILE");
  line.Option("--aggregate", flags->aggregate, "how a closed box aggregates the numbers in it")
      .OneOf({"max", "min", "mean", "sum", "count"})
      .ShowDefault();
  line.Option("--group-by", flags->group_by,
              "what boxes represent: scopes, or devices with scopes in them")
      .OneOf({"scope", "device"})
      .ShowDefault();
  line.Option("--hide", flags->hide,
              "what to hide, a list of control, resources, constants, shapes and main (control "
              "edges, edges of resources and variants, ...), and of nodes by op:GLOB, name:GLOB "
              "and /REGEX/ of names; dashed edges pass through hidden nodes")
      .ShownAs("WHAT,...");
  line.Flag("--show-constants", view.show_constants,
            "show a box for each constant, and for what loops do not change");
  line.Flag("--show-control", view.show_control, "show NoOps as boxes, and all control edges");
  line.Option("--direction", flags->direction,
              "direction of the data flow; up is as in TensorBoard")
      .OneOf({"down", "up", "right"})
      .ShowDefault();
  line.Option("--max-boxes", view.max_boxes, "fold scopes if there are more boxes than this")
      .Between(5, 2000)
      .ShowDefault();
  line.Option("--signature", flags->signature,
              "the signature whose body is drawn; default: serving_default, else the only one")
      .ShownAs("NAME");
  line.Flag("--whole", flags->whole,
            "draw the main graph of a SavedModel instead of a signature, including the nodes that "
            "save and restore variables");
  AddNoValuesFlag(line, flags->no_values);
  flags->sizes.AddTo(line);
  line.Option("--feed", flags->feeds, "a tensor to mark as an input").ShownAs("TENSOR");
  line.Option("--fetch", flags->fetches, "a tensor to mark as an output").ShownAs("TENSOR");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("view", "draws chosen scopes and functions: DOT, SVG, PNG, a page, or JSON",
                "view model.pb -o model.svg", SetUp);

}  // namespace
}  // namespace grapnel
