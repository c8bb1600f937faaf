// GraphPage's tables of rows (lib/render/page_rows.h): one scope, one node, lists of nodes.
#include <algorithm>
#include <map>

#include "lib/render/graph_page.h"
#include "lib/render/page_body.h"
#include "lib/render/page_rows.h"
#include "lib/render/shown_outputs.h"

namespace grapnel {
namespace {

// The rows that a table needs, each once and in the order of ids.
class Needed {
 public:
  explicit Needed(const PageBody& body) : body_(body) {}

  void Node(NodeId id, unsigned fields) {
    if (id != kNoNode) nodes_[id] |= fields;
  }
  void Scope(ScopeId id, unsigned fields) { scopes_[id] |= fields; }
  // A scope that is drawn as a closed box: its row, and that of its core.
  void ClosedScope(ScopeId id) {
    Scope(id, PageRows::kAbout);
    Scope(body_.scopes.tree().scope(id).core, PageRows::kAbout);
  }
  void ScopesFrom(ScopeId id) {
    for (; id != kNoScope; id = body_.scopes.tree().scope(id).parent) Scope(id, 0);
  }

  std::string Table() const {
    PageRows rows(body_);
    for (auto [id, fields] : nodes_) rows.AddNode(id, fields);
    for (auto [id, fields] : scopes_) rows.AddScope(id, fields);
    return rows.Table();
  }

 private:
  const PageBody& body_;
  std::map<NodeId, unsigned> nodes_;
  std::map<ScopeId, unsigned> scopes_;
};

}  // namespace

Expected<std::string> GraphPage::ScopeTable(size_t body, std::optional<ScopeId> scope) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  const ScopeTree& tree = scopes.tree();
  ScopeId id = scope.value_or(tree.scope(kRootScope).core);
  if (id >= tree.size() || tree.scope(id).core != id)
    return MakeError("body {0} has no scope {1} that can be opened", body, id);
  Needed needed(Body(body));
  needed.ScopesFrom(id);
  needed.Scope(kRootScope, PageRows::kAbout);  // costs are shown as parts of the root's
  needed.Scope(id, PageRows::kAbout | PageRows::kContents);
  const ScopeView view = scopes.View(id);
  for (const ScopeEntity& entity : view.entities) {
    needed.Node(entity.node, PageRows::kName | PageRows::kBox);
    if (entity.node == kNoNode) needed.ClosedScope(entity.scope);
    if (entity.node == kNoNode || entity.scope == kNoScope) continue;
    needed.Scope(entity.scope, 0);  // it may be a layer
    needed.Scope(tree.scope(entity.scope).core, 0);
  }
  for (const auto* ports : {&view.sources, &view.sinks}) {
    for (const ScopePort& port : *ports) {
      needed.Node(port.far.node, PageRows::kName);
      if (!port.rest && port.far.node == kNoNode) needed.Scope(tree.scope(port.far.scope).core, 0);
      if (!port.rest && port.far.node == kNoNode) needed.Scope(port.far.scope, 0);
    }
  }
  return needed.Table();
}

Expected<std::string> GraphPage::NodeTable(size_t body, NodeId id) {
  RETURN_IF_ERROR(Check(body));
  if (!graph(body).IsAlive(id)) return MakeError("body {0} has no node {1}", body, id);
  const BodyScopes& scopes = Scopes(body);
  Node node = graph(body).node(id);
  Needed needed(Body(body));
  needed.Node(id, PageRows::kName | PageRows::kEdges | PageRows::kPanel);
  NodeId home = scopes.HomeOf(id);
  needed.Node(home, PageRows::kName);
  needed.ScopesFrom(kRootScope);
  needed.ScopesFrom(scopes.tree().ScopeOf(home));
  for (Port port : node.inputs()) needed.Node(port.node, PageRows::kName);
  std::map<int32_t, size_t> listed;  // by output
  for (const Use& use : node.uses()) {
    Port port = graph(body).node(use.node).input(static_cast<int>(use.slot));
    if (listed[port.index]++ < kFirstListed) needed.Node(use.node, PageRows::kName);
  }
  return needed.Table();
}

Expected<std::string> GraphPage::IndexTable(size_t body, NodeId from, size_t limit) {
  RETURN_IF_ERROR(Check(body));
  const Graph& graph = this->graph(body);
  PageRows rows(Body(body));
  if (from == 0) rows.AddParents();
  NodeId id = from;
  for (size_t count = 0; id < graph.end_id() && count < limit; ++id) {
    if (!graph.IsAlive(id)) continue;
    rows.AddNode(id, PageRows::kName);
    ++count;
  }
  if (id < graph.end_id()) rows.SetNext(id);
  return rows.Table();
}

Expected<std::string> GraphPage::ReadersTable(size_t body, NodeId id, size_t output, size_t from,
                                              bool with_names) {
  RETURN_IF_ERROR(Check(body));
  if (!graph(body).IsAlive(id)) return MakeError("body {0} has no node {1}", body, id);
  Node node = graph(body).node(id);
  std::vector<int32_t> ports = ShownOutputs(node);
  if (output > ports.size())
    return MakeError("there is no such output: node {0} has only {1}", id, ports.size());
  ports.push_back(kControlPort);
  llvm::SmallVector<Use, 4> uses = node.UsesOf(ports[output]);
  size_t begin = std::min(from, uses.size()), end = std::min(begin + kListedAPage, uses.size());
  PageRows rows(Body(body));
  for (size_t i = begin; i < end; ++i) rows.AddNode(uses[i].node, with_names ? PageRows::kName : 0);
  if (end < uses.size()) rows.SetNext(static_cast<NodeId>(end));
  return rows.Table();
}

std::unique_ptr<PageRows> GraphPage::NodeRows(size_t body, NodeId begin, NodeId end,
                                              const KnownNodeTexts& known) {
  auto rows = std::make_unique<PageRows>(Body(body), &known);
  if (begin == 0) rows->AddParents();
  for (NodeId id = begin; id < std::min(end, graph(body).end_id()); ++id)
    if (graph(body).IsAlive(id)) rows->AddNode(id, PageRows::kAllOfNode);
  return rows;
}

std::unique_ptr<PageRows> GraphPage::ScopeRows(size_t body, ScopeId begin, ScopeId end) {
  auto rows = std::make_unique<PageRows>(Body(body));
  const BodyScopes& scopes = Scopes(body);
  for (ScopeId id = begin; id < std::min<size_t>(end, scopes.tree().size()); ++id)
    rows->AddScope(id, PageRows::kAbout | (scopes.IsFrame(id) ? PageRows::kContents : 0));
  return rows;
}

}  // namespace grapnel
