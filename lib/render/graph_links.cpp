// GraphPage::LinksJson: the scope and inputs of each node. A page without a server needs them to
// filter nodes.
#include "lib/render/graph_page.h"

namespace grapnel {

Expected<IndexPage> GraphPage::LinksJson(size_t body, NodeId from, size_t limit) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  const Graph& graph = scopes.graph();
  NodeId id = from;
  auto write_node = [&](const Node& node, llvm::json::OStream& json) {
    bool shown = scopes.folding().uses[node.id()] == NodeUse::kShown;
    json.value(node.id());
    json.value(shown ? static_cast<int64_t>(scopes.tree().ScopeOf(node.id())) : -1);
    for (Port port : node.inputs()) {
      if (port.node == kNoNode) continue;
      int64_t input = port.node;
      json.value(port.IsControl() ? -1 - input : input);
    }
  };
  std::string document = PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      if (from == 0) {
        json.attributeArray("parents", [&] {
          for (ScopeId scope = 0; scope < scopes.tree().size(); ++scope) {
            ScopeId parent = scopes.tree().scope(scope).parent;
            json.value(parent == kNoScope ? -1 : static_cast<int64_t>(parent));
          }
        });
      }
      json.attributeArray("nodes", [&] {
        for (size_t count = 0; id < graph.end_id() && count < limit; ++id) {
          if (!graph.IsAlive(id)) continue;
          json.array([&] { write_node(graph.node(id), json); });
          ++count;
        }
      });
      if (id < graph.end_id()) json.attribute("next", id);
    });
  });
  return IndexPage{std::move(document), id};
}

}  // namespace grapnel
