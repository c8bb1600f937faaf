#include "tools/input.h"

#include "lib/job/function_signature.h"
#include "lib/job/signature_graph.h"
#include "lib/support/name_list.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// Opens the traced functions that `path` names, or the file or folder itself. Users often pass the
// debug folder of a run instead of the model: the error then says so.
template <typename Traced, typename Open>
static auto OpenEither(llvm::StringRef path, const MessageSink& sink, Traced of_functions,
                       Open of_path) -> decltype(of_path()) {
  ASSIGN_OR_RETURN(std::vector<TracedFunction> functions, FunctionsNamed(path, sink));
  if (!functions.empty()) return of_functions(functions);
  auto opened = of_path();
  if (opened || !IsDebugFolder(path)) return opened;
  llvm::consumeError(opened.takeError());
  return MakeError(
      "{0}: is a debug folder of TensorFlow, not a model: `grapnel blame`, `doctor`, `info` and "
      "`serve` read it",
      path);
}

Expected<std::shared_ptr<Model>> OpenModelInput(llvm::StringRef path, const MessageSink& sink) {
  using Opened = Expected<std::shared_ptr<Model>>;
  return OpenEither(
      path, sink, [&](const auto& functions) { return ModelOf(path, functions); },
      [&]() -> Opened {
        ASSIGN_OR_RETURN(Model model, OpenModel(path));
        return std::make_shared<Model>(std::move(model));
      });
}

Expected<OpenedGraph> OpenInput(llvm::StringRef path, llvm::StringRef title,
                                const MessageSink& sink) {
  auto opened = OpenEither(
      path, sink, [&](const auto& functions) { return OpenFunction(path, functions, title); },
      [&] { return OpenedGraph::Open(path, title, "--graph"); });
  if (opened && !opened->note().empty()) sink(Severity::kWarning, opened->note());
  return opened;
}

Expected<std::vector<OpenedGraph>> OpenEachInput(llvm::StringRef path, llvm::StringRef title,
                                                 const MessageSink& sink) {
  auto opened = OpenEither(
      path, sink,
      [&](const auto& functions) { return OpenFunctions(path, functions, title, "--graph"); },
      [&] { return OpenedGraph::OpenEach(path, title, "--graph"); });
  if (!opened) return opened;
  for (const OpenedGraph& graph : *opened)
    if (!graph.note().empty()) sink(Severity::kWarning, graph.note());
  return opened;
}

Expected<OpenedGraph> OpenFunction(llvm::StringRef path, llvm::ArrayRef<TracedFunction> functions,
                                   llvm::StringRef title) {
  ASSIGN_OR_RETURN(auto graphs, OpenFunctions(path, functions, title, "--graph"));
  if (graphs.size() == 1) return std::move(graphs[0]);
  std::vector<std::string> names;
  for (const OpenedGraph& graph : graphs) names.push_back(graph.file().title);
  return MakeError("{0}: has {1} functions: name one, as {0}:{2} or with --graph: {3}", path,
                   names.size(), names[0], NameList(names));
}

static Error CheckOnePart(llvm::StringRef function, llvm::StringRef signature) {
  if (function.empty() || signature.empty()) return Error::success();
  return MakeError("--function and --signature both say what to run: pass only one");
}

static constexpr const char* kFunctionHelp =
    "only the graph of this function: of a SavedModel's objects, as `info` lists them, or of the "
    "library";

void PartFlags::AddTo(CommandLine& line) {
  line.Option("--signature", signature, "only the graph that this signature of a SavedModel runs");
  line.Option("--function", function, kFunctionHelp);
}

Error PartFlags::Take(const ShapeOverrides& sizes, OpenedGraph* opened) const {
  RETURN_IF_ERROR(CheckOnePart(function, signature));
  if (!function.empty()) return TakeFunction(function, sizes, opened);
  if (!signature.empty()) return TakeSignature(signature, sizes, opened).takeError();
  return FillSizes(sizes, {}, opened);
}

Error UseGivenFunction(llvm::StringRef function, llvm::StringRef signature, OpenedGraph* opened) {
  RETURN_IF_ERROR(CheckOnePart(function, signature));
  return function.empty() ? Error::success() : UseFunction(function, opened).takeError();
}

void AddFunctionFlag(CommandLine& line, std::string& function) {
  line.Option("--function", function,
              "instead of a signature: a function of a SavedModel's objects, as `info` lists them, "
              "or of the library; one of several traces by its arguments, 'encode(float[?,3])'");
}

void AddNoValuesFlag(CommandLine& line, bool& no_values) {
  line.Flag("--no-values", no_values,
            "show constants as dtype and shape, without paths and source lines: for sharing "
            "(docs/guide/seeing.md)");
}

void ShownPart::AddSignatureTo(CommandLine& line) {
  line.Option("--signature", signature,
              "the network of this signature of a SavedModel; default: serving_default, else the "
              "only one");
  line.Flag("--whole", whole,
            "the whole file, with the nodes that save, restore and initialize the model");
}

void ShownPart::AddTo(CommandLine& line) {
  AddSignatureTo(line);
  line.Option("--function", function, kFunctionHelp);
}

Expected<std::string> ShownPart::Take(const ShapeOverrides& sizes, OpenedGraph* opened) const {
  if (whole && !empty())
    return MakeError("--whole cannot be combined with --signature or --function: pass only one");
  if (!is_chosen()) return TakeNetwork(sizes, opened);
  RETURN_IF_ERROR(PartFlags::Take(sizes, opened));
  return std::string();
}

Error HoldsOneGraph(llvm::StringRef output, size_t graphs) {
  return MakeError("{0} is for one graph, but there are {1}: name one with --graph", output,
                   graphs);
}

Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title,
                          llvm::ArrayRef<llvm::StringRef> outputs, Invocation& invocation,
                          llvm::function_ref<Expected<int>(OpenedGraph&)> command) {
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, OpenEachInput(path, title, invocation.sink()));
  if (graphs.size() == 1) return command(graphs.front());
  for (llvm::StringRef output : outputs) {
    if (!output.empty()) return HoldsOneGraph(output, graphs.size());
  }
  if (invocation.flags.json) return HoldsOneGraph("--json", graphs.size());
  llvm::raw_ostream& os = invocation.out();
  int worst = kExitOk;
  for (OpenedGraph& graph : graphs) {
    const std::string& name = graph.file().title;
    os << (&graph == &graphs.front() ? "" : "\n") << "--- " << name << "\n";
    os.flush();  // before the command's output on stderr
    auto code = command(graph);
    os.flush();
    if (!code) {
      invocation.err() << "grapnel: graph '" << name << "': " << TextOf(code.takeError()) << "\n";
      code = kExitBadInput;
    }
    worst = std::max(worst, *code);
  }
  return worst;
}

}  // namespace grapnel
