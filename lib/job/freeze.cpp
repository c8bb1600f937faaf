#include "lib/job/freeze.h"

#include <map>

#include "lib/exec/saved_state.h"
#include "lib/function/freeze.h"
#include "lib/io/saved_variables.h"
#include "lib/io/signature.h"
#include "lib/ir/node_types.h"
#include "lib/job/frozen_tables.h"
#include "lib/pass/library.h"

namespace grapnel {
namespace {

// Returns the name under which the session stores the variable of a node.
std::string ResourceName(const Node& variable) {
  std::string name = NameOfVariable(variable);
  std::string container = variable.GetString("container");
  return container.empty() ? name : container + "/" + name;
}

// Removes all nodes except `needed`, which contains the inputs of all its nodes.
void KeepOnly(Graph& graph, llvm::ArrayRef<NodeId> needed) {
  std::vector<bool> keep(graph.end_id(), false);
  for (NodeId id : needed) keep[id] = true;
  std::vector<NodeId> gone;
  for (Node node : graph.nodes()) {
    if (!keep[node.id()]) gone.push_back(node.id());
  }
  for (NodeId id : gone) graph.SetInputs(id, {});
  for (NodeId id : gone) graph.RemoveNode(id);
}

}  // namespace

Error Freeze(OpenedGraph& opened, const FreezeFor& what, ThreadPool& pool) {
  Module& module = opened.module();
  if (what.fetches.empty())
    RETURN_IF_ERROR(ChooseOneSignature(opened.model(), opened.file(), what.signature).takeError());
  ASSIGN_OR_RETURN(FeedsAndFetches tensors,
                   FeedsAndFetchesOf(opened, {}, what.fetches, what.signature));
  Signature outputs;
  for (const std::string& fetch : tensors.fetches)
    outputs.outputs.push_back({fetch, fetch, proto::DT_INVALID, Shape()});
  if (!outputs.outputs.empty()) {
    KeepOnly(module.main, NeededNodes(module.main, outputs));
    DropUnreachableFunctions(module);
  }
  bool has_variables = false;
  for (Node node : module.main.nodes()) has_variables |= IsVariable(node);
  const bool has_tables = HasTables(module);
  if (!has_variables && !has_tables) return Error::success();

  // Reopens the file, since KeepOnly() may have removed the nodes that restore the variables and
  // tables.
  ASSIGN_OR_RETURN(OpenedGraph whole, opened.Reopen());
  Session session;
  ASSIGN_OR_RETURN(RestoredState state,
                   RestoreSession(whole.file(), whole.model().variables_prefix, session, pool));
  std::map<std::string, std::string> reasons;
  for (MissingVariable& variable : state.missing) {
    Node node = whole.module().main.node(variable.variable);
    reasons[ResourceName(node)] = std::move(variable.reason);
  }
  std::map<std::string, ObjectRef> resources;
  for (auto& [name, resource] : session.Resources()) resources[name] = resource;
  auto value = [&](const Node& node) -> Expected<Literal> {
    auto found = resources.find(ResourceName(node));
    auto* variable =
        found == resources.end() ? nullptr : dynamic_cast<StoredVariable*>(found->second.get());
    Tensor tensor = variable ? variable->Get() : Tensor();
    if (!tensor) {
      std::string& reason = reasons[ResourceName(node)];
      return MakeError("variable '{0}' has no value: {1}", node.name(),
                       reason.empty() ? "nothing restores it" : reason);
    }
    return tensor.ToLiteral();
  };
  RETURN_IF_ERROR(Annotate(opened.model().path, FreezeVariables(module, value)));
  if (!has_tables) return Error::success();
  return Annotate(opened.model().path, FreezeTables(module, whole, session, pool));
}

}  // namespace grapnel
