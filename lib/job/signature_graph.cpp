#include "lib/job/signature_graph.h"

#include "lib/io/signature.h"
#include "lib/ir/tensor_name.h"
#include "lib/pass/cut.h"
#include "lib/shape/module_shapes.h"
#include "lib/support/name_list.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the main-graph nodes (variables, tables, constants) that are passed as arguments and can
// replace the arguments.
StandIns StandInsOf(const SignatureBody& body, const Graph& main) {
  StandIns stand_ins;
  for (const auto& [argument, given] : body.from_main) {
    Node node = main.node(given.node);
    bool is_input = llvm::any_of(
        body.inputs, [&, port = argument](const auto& end) { return end.port == port; });
    if (!is_input && node.num_inputs() == 0 && node.num_controls() == 0)
      stand_ins[argument] = {node, given.index};
  }
  return stand_ins;
}

std::vector<NodeId> NodesOfBody(const SignatureBody& body) {
  std::vector<NodeId> ids;
  for (Node node : body.graph->nodes())
    if (body.needed.empty() || body.needed[node.id()]) ids.push_back(node.id());
  return ids;
}

// Renames the inputs to the signature's keys, which users know; the argument names of a function
// are arbitrary. If the signature runs the main graph, the names from the file stay, and so does
// the name of an argument that is a part of a nested one ("x.0", "ids:values").
void NameInputs(const SignatureBody& body, llvm::ArrayRef<Port> inputs, Graph* graph) {
  if (!body.function) return;
  for (auto [end, port] : llvm::zip(body.inputs, inputs)) {
    bool is_input = graph->node(port.node).op() == "Placeholder";
    bool is_part = llvm::StringRef(end.key).find_first_of(".:") != llvm::StringRef::npos;
    if (is_input && !is_part && !graph->Find(end.key)) graph->Rename(port.node, end.key);
  }
}

// Returns those of `tensors` that are among `ends`, as the tensors `ports` of `graph`.
std::vector<SignatureTensor> TensorsOf(llvm::ArrayRef<SignatureTensor> tensors,
                                       llvm::ArrayRef<SignatureBody::End> ends,
                                       llvm::ArrayRef<Port> ports, const Graph& graph) {
  std::vector<SignatureTensor> found;
  for (const SignatureTensor& tensor : tensors) {
    for (auto [end, port] : llvm::zip(ends, ports)) {
      if (end.key != tensor.key) continue;
      found.push_back(tensor);
      found.back().tensor = OutputName(graph.node(port.node).name(), port.index);
      break;
    }
  }
  return found;
}

// Returns what the file says about `part`, the graph that a signature runs.
GraphInFile FileOf(const GraphInFile& whole, SignatureGraph taken, std::unique_ptr<Module> part) {
  GraphInFile file;
  file.title = whole.title;
  file.path = whole.path;
  file.module = std::move(part);
  file.tags = whole.tags;
  file.signatures.push_back(std::move(taken.signature));
  file.function = std::move(taken.function);
  file.tensorflow_version = whole.tensorflow_version;
  file.object_graph = whole.object_graph;
  return file;
}

// Returns what else the file has besides the network of `taken`.
std::string OthersText(const GraphInFile& file, const Signature& taken) {
  std::vector<std::string> same, others;
  for (const auto& network : SignaturesByNetwork(file)) {
    bool is_taken = llvm::is_contained(network, &taken);
    for (const Signature* signature : network)
      if (signature != &taken) (is_taken ? same : others).push_back(signature->name);
  }
  std::string text;
  if (!same.empty())
    text += "; " + NameList(same) + (same.size() == 1 ? " runs" : " run") + " the same network";
  if (!others.empty()) text += "; not shown: " + NameList(others) + " (--signature)";
  return text;
}

}  // namespace

Expected<SignatureGraph> TakeSignature(llvm::StringRef name, const ShapeOverrides& given,
                                       OpenedGraph* opened) {
  ASSIGN_OR_RETURN(const Signature* signature,
                   ChooseOneSignature(opened->model(), opened->file(), name));
  if (!signature) return MakeError("{0}: has no signature", opened->model().path);
  RETURN_IF_ERROR(FillSizes(given, name, opened));
  SignatureBody body = BodyOf(opened->file(), *signature);
  const Module& module = opened->module();
  // `body` refers to the file's module, but `opened` may hold a copy of it: finds the function by
  // name in the copy, where nodes have the same ids.
  const Function* function = body.function ? module.FindFunction(body.function->name()) : nullptr;
  const Graph& graph = function ? function->body : module.main;
  std::vector<Port> ends;
  for (const auto* list : {&body.inputs, &body.outputs})
    for (const SignatureBody::End& end : *list) ends.push_back(end.port);
  ModuleShapes shapes(module);
  auto part =
      ExtractNodes(graph, shapes.Of(graph), NodesOfBody(body), StandInsOf(body, module.main), ends);
  if (!part) return Annotate(opened->model().path, part.takeError());
  Graph& main = part->module->main;
  llvm::ArrayRef<Port> inputs = llvm::ArrayRef(part->wanted).take_front(body.inputs.size());
  llvm::ArrayRef<Port> outputs = llvm::ArrayRef(part->wanted).drop_front(body.inputs.size());
  NameInputs(body, inputs, &main);
  SignatureGraph taken;
  taken.function = function ? function->name().str() : "";
  taken.signature = *signature;
  taken.signature.inputs = TensorsOf(signature->inputs, body.inputs, inputs, main);
  taken.signature.outputs = TensorsOf(signature->outputs, body.outputs, outputs, main);
  opened->ContinueWith(FileOf(opened->file(), taken, std::move(part->module)),
                       [name = signature->name, given](OpenedGraph* again) {
                         return TakeSignature(name, given, again).takeError();
                       });
  return taken;
}

Expected<std::string> TakeNetwork(const ShapeOverrides& given, OpenedGraph* opened) {
  ASSIGN_OR_RETURN(const Signature* signature, ChooseOneSignature(opened->model(), opened->file()));
  if (!signature) {
    RETURN_IF_ERROR(FillSizes(given, {}, opened));
    return std::string();
  }
  std::string text =
      "signature '" + Printable(signature->name) + "'" + OthersText(opened->file(), *signature);
  RETURN_IF_ERROR(TakeSignature(signature->name, given, opened).takeError());
  return text;
}

}  // namespace grapnel
