#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/model_explorer.h"
#include "lib/shape/flops.h"
#include "lib/shape/module_shapes.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

std::optional<int64_t> ConstantBytes(const Node& node) {
  if (!IsConstant(node)) return std::nullopt;
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

std::optional<llvm::json::Value> AsValue(std::optional<int64_t> number) {
  if (!number) return std::nullopt;
  return llvm::json::Value(*number);
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

using ValueOf =
    llvm::function_ref<std::optional<llvm::json::Value>(const Node&, const std::string& id)>;

static void WriteData(const Module& module, llvm::StringRef name, ValueOf value_of,
                      llvm::raw_ostream& os) {
  llvm::json::OStream json(os, 1);
  json.object([&] {
    for (const ExplorerGraph& graph : ExplorerGraphs(module)) {
      json.attributeObject(graph.id, [&] {
        json.attribute("name", name);
        json.attributeObject("results", [&] {
          for (Node node : graph.graph->nodes()) {
            const std::string& id = graph.node_ids[node.id()];
            std::optional<llvm::json::Value> value = value_of(node, id);
            if (value) json.attributeObject(id, [&] { json.attribute("value", *value); });
          }
        });
        WriteGradient(json);
      });
    }
  });
  os << "\n";
}

void WriteNodeData(const Module& module, NodeDataKind kind, llvm::raw_ostream& os) {
  if (kind == NodeDataKind::kConstantBytes) {
    auto bytes = [](const Node& node, const std::string&) { return AsValue(ConstantBytes(node)); };
    return WriteData(module, "constant bytes", bytes, os);
  }
  ModuleShapes shapes(module);
  auto flops = [&](const Node& node, const std::string&) {
    return AsValue(EstimateFlops(node, shapes.Of(node.graph())));
  };
  WriteData(module, "estimated FLOPs", flops, os);
}

void WriteNodeData(const Module& module, llvm::StringRef name,
                   const std::map<std::string, double>& numbers, llvm::raw_ostream& os) {
  auto value_of = [&](const Node&, const std::string& id) -> std::optional<llvm::json::Value> {
    auto number = numbers.find(id);
    if (number == numbers.end()) return std::nullopt;
    return llvm::json::Value(number->second);
  };
  WriteData(module, name, value_of, os);
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
