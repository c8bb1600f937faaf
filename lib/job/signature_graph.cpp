#include "lib/job/signature_graph.h"

#include "lib/io/signature.h"
#include "lib/ir/tensor_name.h"
#include "lib/pass/cut.h"
#include "lib/shape/module_shapes.h"
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

std::vector<NodeId> NodesOf(const SignatureBody& body) {
  std::vector<NodeId> ids;
  for (Node node : body.graph->nodes())
    if (body.needed.empty() || body.needed[node.id()]) ids.push_back(node.id());
  return ids;
}

// Renames inputs to the signature's keys, which users know; the argument names of a function are
// arbitrary. If the signature runs the main graph, the names from the file stay. Returns the names
// of the inputs.
std::vector<std::string> NameInputs(const SignatureBody& body, Graph* graph) {
  std::vector<std::string> inputs;
  for (const SignatureBody::End& end : body.inputs) {
    Node input = graph->Find(body.graph->node(end.port.node).name());
    if (!input) continue;  // not read
    if (body.function && !graph->Find(end.key)) graph->Rename(input.id(), end.key);
    inputs.push_back(OutputName(input.name(), body.function ? 0 : end.port.index));
  }
  return inputs;
}

// Returns the outputs of the signature, without outputs that only forward an argument.
std::vector<std::string> OutputsOf(const SignatureBody& body, const Graph& graph) {
  std::vector<std::string> outputs;
  for (const SignatureBody::End& end : body.outputs) {
    llvm::StringRef node = body.graph->node(end.port.node).name();
    if (graph.Find(node)) outputs.push_back(OutputName(node, end.port.index));
  }
  return outputs;
}

}  // namespace

Expected<SignatureGraph> TakeSignature(llvm::StringRef name, const ShapeOverrides& given,
                                       OpenedGraph* opened) {
  ASSIGN_OR_RETURN(const Signature* signature,
                   ChooseSignature(opened->model(), opened->file(), name));
  if (!signature) return MakeError("{0}: has no signature", opened->model().path);
  RETURN_IF_ERROR(FillSizes(given, name, opened));
  SignatureBody body = BodyOf(opened->file(), *signature);
  const Module& module = opened->module();
  // `body` refers to the file's module, but `opened` may hold a copy of it: finds the function by
  // name in the copy, where nodes have the same ids.
  const Function* function = body.function ? module.FindFunction(body.function->name()) : nullptr;
  const Graph& graph = function ? function->body : module.main;
  ModuleShapes shapes(module);
  auto part = ExtractNodes(graph, shapes.Of(graph), NodesOf(body), StandInsOf(body, module.main));
  if (!part) return Annotate(opened->model().path, part.takeError());
  SignatureGraph result{signature->name, body.function ? body.function->name().str() : "", {}, {}};
  result.inputs = NameInputs(body, &part->module->main);
  result.outputs = OutputsOf(body, part->module->main);
  opened->WorkOn(std::move(part->module));
  return result;
}

}  // namespace grapnel
