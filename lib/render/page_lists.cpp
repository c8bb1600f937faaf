// GraphPage's long lists, which the page requests in several documents, and the edges of a line.
#include <algorithm>

#include "lib/ir/node_types.h"
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/render/page_body.h"

namespace grapnel {
namespace {

void WriteMarkedNode(const PageMarks& marks, size_t body, const Node& node, int kind,
                     llvm::json::OStream& json) {
  json.array([&] {
    json.value(body);
    json.value(node.id());
    json.value(kind);
    json.value(Printable(node.op()));
    json.value(Printable(marks.name_of ? marks.name_of(node) : node.name().str()));
  });
}

}  // namespace

void WriteProblems(llvm::ArrayRef<Problem> problems, size_t from, size_t limit,
                   llvm::json::OStream& json) {
  size_t begin = std::min(from, problems.size());
  size_t end = begin + std::min(limit, problems.size() - begin);
  json.attribute("problem_count", problems.size());
  json.attributeArray("problems", [&] {
    for (const Problem& problem : problems.slice(begin, end - begin))
      json.value(Printable(problem.ToString()));
  });
  if (end < problems.size()) json.attribute("next_problem", end);
}

template <typename Visit>
void GraphPage::ForEachMarked(Visit&& visit) const {
  for (size_t body = 0; marks_ && body < num_bodies(); ++body) {
    const std::vector<int8_t>& kinds = KindsOfMarks(body);
    for (Node node : graph(body).nodes()) {
      int kind = int{kinds[node.id()]};
      bool is_listed = kind >= 0 && (!marks_->is_listed || marks_->is_listed(node));
      if (is_listed) visit(body, node, kind);
    }
  }
}

const std::vector<std::vector<std::pair<size_t, NodeId>>>& GraphPage::Marked() const {
  std::call_once(marked_once_, [this] {
    marked_.resize(marks_ ? marks_->kinds.size() : 0);
    ForEachMarked([&](size_t body, const Node& node, int kind) {
      marked_[kind].push_back({body, node.id()});
    });
  });
  return marked_;
}

std::vector<size_t> GraphPage::MarkedCounts() const {
  std::vector<size_t> counts;
  for (const auto& of_kind : Marked()) counts.push_back(of_kind.size());
  return counts;
}

// Writes the first marked nodes of each kind: [body, node, kind, op, name].
void GraphPage::WriteMarked(llvm::json::OStream& json) const {
  std::vector<size_t> counts(marks_->kinds.size(), 0);
  json.attributeArray("marked", [&] {
    ForEachMarked([&](size_t body, const Node& node, int kind) {
      if (counts[kind]++ < kFirstListed) WriteMarkedNode(*marks_, body, node, kind, json);
    });
  });
  json.attributeArray("marked_counts", [&] {
    for (size_t count : counts) json.value(count);
  });
}

Expected<std::string> GraphPage::MarkedJson(size_t kind, size_t from) const {
  if (!marks_ || kind >= marks_->kinds.size())
    return MakeError("there is no kind of mark with index {0}", kind);
  llvm::ArrayRef<std::pair<size_t, NodeId>> all = Marked()[kind];
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("marked", [&] {
        for (auto [body, id] : all.drop_front(std::min(from, all.size())).take_front(kListedAPage))
          WriteMarkedNode(*marks_, body, graph(body).node(id), static_cast<int>(kind), json);
      });
      json.attribute("count", all.size());
      if (from + kListedAPage < all.size()) json.attribute("next", from + kListedAPage);
    });
  });
}

std::string GraphPage::ProblemsJson(size_t from) const {
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] { WriteProblems(module_.problems, from, kListedAPage, json); });
  });
}

Expected<std::string> GraphPage::EdgesJson(size_t body, llvm::StringRef from, llvm::StringRef to,
                                           bool control) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  const Graph& graph = this->graph(body);
  auto parse = [&](llvm::StringRef key) -> Expected<ScopeEntity> {
    llvm::StringRef digits = key;
    bool is_scope = digits.consume_front("s");
    uint32_t number;
    bool is_key = (is_scope || digits.consume_front("n")) && !digits.getAsInteger(10, number);
    if (is_key && is_scope && number < scopes.tree().size()) return ScopeEntity{number, kNoNode};
    if (is_key && !is_scope && graph.IsAlive(number)) return ScopeEntity{kNoScope, number};
    return MakeError("body {0} has no box {1}", body, key);
  };
  ASSIGN_OR_RETURN(ScopeEntity a, parse(from));
  ASSIGN_OR_RETURN(ScopeEntity b, parse(to));
  size_t count = 0;
  auto edges = scopes.EdgesBetween(a, b, control, kFirstListed, &count);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("edges", [&] {
        for (const BodyScopes::NodeInput& edge : edges) {
          Node reader = graph.node(edge.node);
          Port port = reader.input(edge.slot);
          json.object([&] {
            json.attribute("from", port.node);
            json.attribute("name", Printable(graph.node(port.node).name()));
            if (!control) {
              json.attribute("port", port.index);
              json.attribute("type",
                             TensorText(shapes(body).TypeOf(port), shapes(body).OfPort(port)));
              json.attribute("slot", InputName(DefinitionOf(reader), reader, edge.slot));
            }
            json.attribute("to", edge.node);
            json.attribute("reader", Printable(reader.name()));
          });
        }
      });
      json.attribute("more", count - edges.size());
    });
  });
}

}  // namespace grapnel
