#include "lib/ir/literal.h"
#include "lib/render/labels.h"
#include "lib/render/model_explorer.h"
#include "lib/shape/flops.h"
#include "lib/shape/module_shapes.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

std::optional<int64_t> ConstantBytes(const Node& node) {
  if (node.op() != "Const" && node.op() != "HostConst") return std::nullopt;
  auto literal = Literal::FromConst(node);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return std::nullopt;
  }
  if (literal->dtype() != proto::DT_STRING) return static_cast<int64_t>(literal->byte_size());
  size_t bytes = 0;
  for (const std::string& text : literal->strings()) bytes += text.size();
  // A splat (one string for all elements) stores its string only once.
  if (literal->is_splat()) bytes *= static_cast<size_t>(literal->num_elements());
  return static_cast<int64_t>(bytes);
}

void WriteResults(const ExplorerGraph& graph, const ShapeMap* shapes, llvm::json::OStream& json) {
  for (Node node : graph.graph->nodes()) {
    std::optional<int64_t> value = shapes ? EstimateFlops(node, *shapes) : ConstantBytes(node);
    if (!value) continue;
    json.attributeObject(graph.node_ids[node.id()], [&] { json.attribute("value", *value); });
  }
}

// Writes a gradient from white to blue: the highest cost stands out, and text stays readable.
void WriteGradient(llvm::json::OStream& json) {
  json.attributeArray("gradient", [&] {
    for (auto [stop, color] : {std::pair(0, "#ffffff"), std::pair(1, "#56b4e9")}) {
      json.object([&, stop = stop, color = color] {
        json.attribute("stop", stop);
        json.attribute("bgColor", color);
      });
    }
  });
}

void WriteIds(const char* key, llvm::ArrayRef<NodeEntry> entries, llvm::json::OStream& json) {
  json.attributeArray(key, [&] {
    for (const NodeEntry& entry : entries) json.value(Printable(entry.name));
  });
}

}  // namespace

void WriteNodeData(const Module& module, NodeDataKind kind, llvm::raw_ostream& os) {
  llvm::json::OStream json(os, 1);
  ModuleShapes shapes(module);
  json.object([&] {
    for (const ExplorerGraph& graph : ExplorerGraphs(module)) {
      const ShapeMap* of_body = kind == NodeDataKind::kOpCost ? &shapes.Of(*graph.graph) : nullptr;
      json.attributeObject(graph.id, [&] {
        json.attribute("name",
                       kind == NodeDataKind::kOpCost ? "estimated FLOPs" : "constant bytes");
        json.attributeObject("results", [&] { WriteResults(graph, of_body, json); });
        WriteGradient(json);
      });
    }
  });
  os << "\n";
}

void WriteSyncNavigation(const Diff& diff, llvm::raw_ostream& os) {
  llvm::json::OStream json(os, 1);
  json.object([&] {
    json.attribute("type", "sync_navigation");
    json.attributeArray("mappingEntries", [&] {
      auto entry = [&](llvm::ArrayRef<NodeEntry> left, llvm::ArrayRef<NodeEntry> right) {
        json.object([&] {
          WriteIds("leftNodeIds", left, json);
          WriteIds("rightNodeIds", right, json);
        });
      };
      for (const MatchedPair& pair : diff.matched) entry(pair.a, pair.b);
      for (const GroupEntry& group : diff.groups) entry(group.a, group.b);
    });
    json.attribute("disableMappingFallback", true);
  });
  os << "\n";
}

}  // namespace grapnel
