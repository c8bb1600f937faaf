// GraphPage::SearchJson: searches a graph's nodes.
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/render/node_query.h"
#include "lib/render/node_texts.h"

namespace grapnel {

std::string GraphPage::SearchJson(llvm::StringRef text, size_t limit, const SeenNodes& seen,
                                  llvm::function_ref<bool()> is_gone) {
  NodeQuery query = NodeQuery::Parse(text);
  llvm::DenseSet<uint32_t> shown;  // bodies
  for (const auto& [body, node] : seen) shown.insert(body);
  // First those in `seen`, then those in the same bodies, then others.
  std::vector<std::pair<size_t, NodeId>> ranks[3 * NodeQuery::kRanks];
  size_t found = 0, visited = 0;
  bool goes_on = !query.empty();
  if (SourcePlace place = SourcePlace::Parse(text.trim()); place.line > 0) {
    for (const Node& node : Lines().NodesAt(place, module_)) {
      const Function* function = FunctionOf(node.graph());
      std::optional<size_t> body = function ? FindBody(function->name()) : 0;
      goes_on = false;  // the query is a line, not a name
      if (body && found++ < limit) ranks[0].push_back({*body, node.id()});
    }
  }
  for (size_t body = 0; body < bodies_.size() && goes_on; ++body) {
    for (Node node : graph(body).nodes()) {
      if (++visited % 65536 == 0 && is_gone()) goes_on = false;
      if (!goes_on) break;
      auto device = [&] { return PageDevice(node, marks_); };
      auto types = [&] { return OutputTypes(shapes(body), node); };
      auto attributes = [&] { return AttributesText(node); };
      std::optional<int> rank = query.RankOf(node, {device, types, attributes});
      if (!rank) continue;
      ++found;
      if (!seen.contains({static_cast<uint32_t>(body), node.id()}))
        *rank += (shown.contains(static_cast<uint32_t>(body)) ? 1 : 2) * NodeQuery::kRanks;
      if (ranks[*rank].size() < limit) ranks[*rank].push_back({body, node.id()});
    }
  }
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      size_t listed = 0;
      json.attributeArray("hits", [&] {
        for (const auto& nodes : ranks) {
          for (auto [body, id] : nodes) {
            if (listed == limit) break;
            ++listed;
            Node node = graph(body).node(id);
            json.object([&, body = body] {
              json.attribute("body", body);
              json.attribute("node", node.id());
              json.attribute("name", Printable(node.name()));
              json.attribute("op", Printable(node.op()));
              json.attribute("device", PageDevice(node, marks_));
              json.attribute("types", OutputTypes(shapes(body), node));
            });
          }
        }
      });
      json.attribute("more", found - listed);
    });
  });
}

}  // namespace grapnel
