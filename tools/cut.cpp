// `grapnel cut MODEL --outputs ... -o FILE`: writes a part of a graph as a separate graph.
#include "lib/pass/cut.h"

#include <set>

#include "lib/io/strip_constants.h"
#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/ir/summary.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/name_resolver.h"
#include "lib/pass/boundary.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/document.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, scope, output;
  PartFlags part;
  std::vector<std::string> inputs, outputs;
  bool no_values = false;
};

Expected<std::vector<Port>> Find(const Graph& graph, llvm::ArrayRef<std::string> tensors) {
  std::vector<Port> ports;
  for (const std::string& tensor : tensors) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, tensor));
    if (!llvm::is_contained(ports, port)) ports.push_back(port);
  }
  return ports;
}

Expected<CutResult> CutNamed(Module* module, const Flags& flags) {
  ASSIGN_OR_RETURN(std::vector<Port> inputs, Find(module->main, flags.inputs));
  ASSIGN_OR_RETURN(std::vector<Port> outputs, Find(module->main, flags.outputs));
  return CutGraph(module, inputs, outputs);
}

bool IsInScope(const Node& node, llvm::StringRef scope) {
  llvm::StringRef rest = node.name();
  return rest.consume_front(scope) && (rest.empty() || rest.starts_with("/"));
}

// Returns the nodes of a graph in a scope, or the node with that name.
std::vector<NodeId> NodesIn(const Graph& graph, llvm::StringRef scope) {
  std::vector<NodeId> ids;
  for (Node node : graph.nodes())
    if (IsInScope(node, scope.rtrim('/'))) ids.push_back(node.id());
  return ids;
}

// Returns NodesIn() of the main graph. Errors: there are no such nodes.
Expected<std::vector<NodeId>> NodesInScope(const Graph& graph, llvm::StringRef scope) {
  std::vector<NodeId> ids = NodesIn(graph, scope);
  if (!ids.empty()) return ids;
  std::set<std::string> scopes;
  for (Node node : graph.nodes())
    for (llvm::StringRef rest = node.name(); rest.contains('/'); scopes.insert(rest.str()))
      rest = rest.rsplit('/').first;
  return NotFound("scope", scope, std::vector<std::string>(scopes.begin(), scopes.end()));
}

// Makes the scope the main graph. Returns the same information as for any other cut.
Expected<CutResult> CutScope(OpenedGraph* input, llvm::StringRef scope) {
  const Graph& graph = input->module().main;
  ASSIGN_OR_RETURN(std::vector<NodeId> ids, NodesInScope(graph, scope));
  ShapeMap shapes = InferShapes(graph);
  ASSIGN_OR_RETURN(ExtractedNodes part, ExtractNodes(graph, shapes, ids));
  CutResult result;
  result.nodes_before = graph.num_nodes();
  result.inputs = std::move(part.inputs);
  for (const auto& function : input->module().functions)
    if (!part.module->FindFunction(function->name()))
      result.functions.push_back(function->name().str());
  input->WorkOn(std::move(part.module));
  return result;
}

// Makes the graph of the signature or function the main graph. If no outputs were given, sets those
// of the signature or function.
Error TakePart(OpenedGraph* input, Flags* flags) {
  RETURN_IF_ERROR(flags->part.Take({}, input));
  if (input->file().signatures.empty()) {  // a function of the library
    if (!flags->outputs.empty()) return Error::success();
    for (const std::string& fetch : DefaultFetches(input->module().main))
      flags->outputs.push_back(ReadTensorName(fetch).node.str());
    return Error::success();
  }
  const Signature& taken = input->file().signatures.front();
  if (!flags->outputs.empty()) return Error::success();
  for (const SignatureTensor& output : taken.outputs) flags->outputs.push_back(output.tensor);
  return Error::success();
}

// A requested tensor or scope that the main graph lacks, and the function that has it.
struct InFunction {
  std::string what;
  const Function* function = nullptr;
};

InFunction FindInFunctions(const Module& module, const Flags& flags) {
  for (const auto& function : module.functions) {
    if (!flags.scope.empty() && !NodesIn(function->body, flags.scope).empty())
      return {"scope '" + flags.scope + "'", function.get()};
    for (const auto* names : {&flags.outputs, &flags.inputs})
      for (const std::string& name : *names)
        if (!FindTensorIfThere(module.main, name) && FindTensorIfThere(function->body, name))
          return {"'" + name + "'", function.get()};
  }
  return {};
}

// Replaces layers, keys and other names in the flags by the tensors that they mean.
Error UseNames(const OpenedGraph& input, Flags* flags) {
  NameResolver resolver(input);
  for (auto* names : {&flags->inputs, &flags->outputs}) {
    for (std::string& name : *names) {
      if (FindTensorIfThere(input.module().main, name)) continue;
      ASSIGN_OR_RETURN(std::optional<std::string> tensor, resolver.MainTensorIfThere(name));
      if (tensor) name = std::move(*tensor);
    }
  }
  return Error::success();
}

Expected<CutResult> CutAsAsked(OpenedGraph* input, Flags* flags) {
  if (!flags->part.empty()) RETURN_IF_ERROR(TakePart(input, flags));
  RETURN_IF_ERROR(UseNames(*input, flags));
  auto result =
      flags->scope.empty() ? CutNamed(&input->module(), *flags) : CutScope(input, flags->scope);
  if (result) return result;
  bool has_signatures = flags->part.empty() && !input->file().signatures.empty();
  auto [what, function] = has_signatures ? FindInFunctions(input->module(), *flags) : InFunction();
  if (!function) return Annotate(flags->model, result.takeError());
  llvm::consumeError(result.takeError());
  return MakeError(
      "{0}: {1} is in function '{2}': --signature cuts the graph of a signature, --function that "
      "of a function; `grapnel info` lists them",
      flags->model, what, function->name());
}

std::string TypeText(const CutInput& input) {
  return (DataTypeName(input.dtype) + input.shape.ToString()).str();
}

void PrintText(const CutResult& result, const Module& module, const Flags& flags,
               llvm::raw_ostream& os) {
  os << flags.model << ": " << Plural(result.nodes_before, "node") << " -> "
     << WithCommas(module.main.num_nodes());
  if (!result.functions.empty())
    os << ", " << Plural(result.functions.size(), "function") << " left out";
  os << "\n";
  std::vector<std::vector<std::string>> rows;
  for (const CutInput& input : result.inputs)
    if (!input.placeholder.empty())
      rows.push_back({input.tensor, input.placeholder, TypeText(input)});
  if (rows.empty()) return;
  rows.insert(rows.begin(), {"input", "placeholder", "type"});
  os << Table(rows, "  ");
}

void WriteResult(const CutResult& result, const Module& module, llvm::json::OStream& json) {
  json.attribute("nodes_before", static_cast<int64_t>(result.nodes_before));
  json.attribute("nodes", static_cast<int64_t>(module.main.num_nodes()));
  json.attributeArray("inputs", [&] {
    for (const CutInput& input : result.inputs) {
      json.object([&] {
        json.attribute("tensor", llvm::json::fixUTF8(input.tensor));
        json.attribute("placeholder",
                       input.placeholder.empty()
                           ? llvm::json::Value(nullptr)
                           : llvm::json::Value(llvm::json::fixUTF8(input.placeholder)));
        json.attribute("dtype", DataTypeName(input.dtype));
        json.attribute("shape", input.shape.ToString());
      });
    }
  });
  json.attributeArray("functions_left_out", [&] {
    for (const std::string& name : result.functions) json.value(llvm::json::fixUTF8(name));
  });
}

Error CheckFlags(const Flags& flags) {
  if (flags.scope.empty())
    return flags.outputs.empty() && flags.part.empty()
               ? MakeError("--outputs is required (or --scope, --signature or --function)")
               : Error::success();
  if (flags.outputs.empty() && flags.inputs.empty()) return Error::success();
  return MakeError(
      "--scope selects a scope with all its inputs and outputs: do not pass --inputs, --outputs");
}

Expected<int> Run(Flags flags, Invocation& invocation) {
  RETURN_IF_ERROR(CheckFlags(flags));
  ASSIGN_OR_RETURN(OpenedGraph input, OpenInput(flags.model, flags.graph, invocation.sink()));
  MessageSink sink = invocation.sink();
  RETURN_IF_ERROR(CheckValid(input, sink));
  ASSIGN_OR_RETURN(CutResult result, CutAsAsked(&input, &flags));
  for (const CutInput& cut : result.inputs)
    if (cut.placeholder.empty())
      sink(Severity::kWarning, flags.model + ": no output needs '" + cut.tensor + "'");
  if (flags.no_values) StripConstants(&input.module());
  RETURN_IF_ERROR(WriteGraph(input.module(), flags.output));
  if (flags.output == "-") return kExitOk;
  if (invocation.flags.json) {
    WriteDocument(invocation.out(),
                  [&](llvm::json::OStream& json) { WriteResult(result, input.module(), json); });
  } else if (!invocation.flags.quiet) {
    PrintText(result, input.module(), flags, invocation.out());
  }
  invocation.Wrote(flags.output, Plural(CountNodes(input.module()), "node"));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to cut").Required();
  line.Option("--inputs", flags->inputs, "tensors that become placeholders")
      .Separator(',')
      .ShownAs("TENSOR,...");
  line.Option("--outputs", flags->outputs,
              "tensors, or nodes without outputs, to compute; with --signature or --function by "
              "default its own")
      .Separator(',')
      .ShownAs("TENSOR,...");
  line.Option(
      "--scope", flags->scope,
      "instead of --outputs: write the nodes of this scope, with placeholders for its inputs");
  line.Option("-o,--output", flags->output,
              "output file for the part: .pb, .pbtxt or .gtxt, each also .gz")
      .Required();
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  flags->part.AddTo(line);
  AddNoValuesFlag(line, flags->no_values);
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("cut", "writes a part of a graph, with placeholders for its inputs",
                "cut model.pb --inputs conv1:0 --outputs logits:0 -o part.pb", SetUp);

}  // namespace
}  // namespace grapnel
