// Lists and searches a graph's nodes.
#include <algorithm>
#include <map>

#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/render/node_query.h"
#include "lib/render/page_writers.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

// Numbers distinct texts in the order of their first use.
class TextTable {
 public:
  size_t Number(std::string text) {
    auto [it, fresh] = numbers_.try_emplace(std::move(text), texts_.size());
    if (fresh) texts_.push_back(it->first);
    return it->second;
  }
  void Write(llvm::StringRef key, llvm::json::OStream& json) const {
    json.attributeArray(key, [&] {
      for (const std::string& text : texts_) json.value(text);
    });
  }

 private:
  std::map<std::string, size_t> numbers_;
  std::vector<std::string> texts_;
};

std::string OutputTypes(const ShapeMap& shapes, const Node& node) {
  std::string text;
  constexpr int kMost = 64;
  int count = NumOutputs(node);
  for (int port = 0; port < std::min(count, kMost); ++port) {
    Port at{node.id(), port};
    text += (port ? " " : "") + TensorText(shapes.TypeOf(at), shapes.OfPort(at));
  }
  return count > kMost ? text + " ..." : text;
}

std::string AttributesText(const Node& node) {
  std::string text;
  for (const auto& [key, value] : node.Attrs()) {
    if (value.kind() == AttrKind::kTensor || key.starts_with("_output_shapes")) continue;
    text += (text.empty() ? "" : " ") + key.str() + "=" + value.ToString();
  }
  return Printable(text);
}

// Returns "file.py:12" for the line that made the node; "" if it is unknown.
std::string LineText(const LineTable& lines, llvm::StringRef function, const Node& node) {
  LineTable::TraceId trace = lines.Find(function, node.name());
  std::optional<SourceFrame> line = trace ? lines.LineOf(trace) : lines.LineOf(node);
  return line ? Printable(FrameText(*line, /*with_function=*/false)) : "";
}

}  // namespace

Expected<IndexPage> GraphPage::IndexJson(size_t body, NodeId from, size_t limit) {
  RETURN_IF_ERROR(Check(body));
  const BodyScopes& scopes = Scopes(body);
  const Graph& graph = scopes.graph();
  TextTable ops, devices, types, attributes, clusters, lines;
  const LineTable& made = Lines();
  llvm::StringRef function = body > 0 ? module_.functions[body - 1]->name() : "";
  NodeId id = from;
  std::string document = PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("nodes", [&] {
        for (size_t count = 0; id < graph.end_id() && count < limit; ++id) {
          if (!graph.IsAlive(id)) continue;
          Node node = graph.node(id);
          json.array([&] {
            json.value(id);
            json.value(Printable(node.name()));
            json.value(ops.Number(Printable(node.op())));
            json.value(devices.Number(PageDevice(node, marks_)));
            json.value(types.Number(OutputTypes(scopes.shapes(), node)));
            json.value(attributes.Number(AttributesText(node)));
            json.value(clusters.Number(Printable(clusters_.Of(node))));
            if (!made.empty()) json.value(lines.Number(LineText(made, function, node)));
          });
          ++count;
        }
      });
      ops.Write("ops", json);
      devices.Write("devices", json);
      types.Write("types", json);
      attributes.Write("attributes", json);
      clusters.Write("clusters", json);
      if (!made.empty()) lines.Write("lines", json);
      if (id < graph.end_id()) json.attribute("next", id);
    });
  });
  return IndexPage{std::move(document), id};
}

std::string GraphPage::SearchJson(llvm::StringRef text, size_t limit,
                                  llvm::function_ref<bool()> is_gone) {
  NodeQuery query = NodeQuery::Parse(text);
  std::vector<std::pair<size_t, NodeId>> ranks[NodeQuery::kRanks];
  size_t found = 0, seen = 0;
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
      if (++seen % 65536 == 0 && is_gone()) goes_on = false;
      if (!goes_on) break;
      auto device = [&] { return PageDevice(node, marks_); };
      auto types = [&] { return OutputTypes(shapes(body), node); };
      auto attributes = [&] { return AttributesText(node); };
      std::optional<int> rank = query.RankOf(node, {device, types, attributes});
      if (!rank) continue;
      ++found;
      if (ranks[*rank].size() < limit) ranks[*rank].push_back({body, node.id()});
    }
  }
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      size_t shown = 0;
      json.attributeArray("hits", [&] {
        for (const auto& nodes : ranks) {
          for (auto [body, id] : nodes) {
            if (shown == limit) break;
            ++shown;
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
      json.attribute("more", found - shown);
    });
  });
}

}  // namespace grapnel
