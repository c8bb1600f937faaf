#include "lib/render/model_explorer.h"

#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/render/labels.h"
#include "lib/render/shown_outputs.h"
#include "lib/shape/module_shapes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// At most this many elements of a value are written: the first ones are enough to recognize it.
constexpr int kMaxElements = 64;
constexpr llvm::StringLiteral kControl = "control";

std::vector<std::string> NodeIdsOf(const Graph& graph, llvm::StringRef prefix) {
  std::vector<std::string> ids(graph.end_id());
  llvm::StringMap<int> seen;
  for (Node node : graph.nodes()) {
    int count = ++seen[node.name()];
    std::string& id = ids[node.id()] = Printable((prefix + node.name()).str());
    if (count > 1) id.append("#").append(std::to_string(count));
  }
  return ids;
}

llvm::StringRef ScopeOf(llvm::StringRef name) {
  size_t slash = name.rfind('/');
  return slash == llvm::StringRef::npos ? "" : name.take_front(slash);
}

class NodeLineWriter {
 public:
  NodeLineWriter(const ExplorerGraph& graph, const ShapeMap& shapes, const Node& node,
                 llvm::json::OStream* json)
      : graph_(graph), shapes_(shapes), node_(node), info_(DefinitionOf(node)), json_(*json) {}

  void Write() {
    json_.object([&] {
      json_.attribute("id", Id(node_.id()));
      json_.attribute("label", Printable(node_.op()));
      json_.attribute("namespace", Printable(ScopeOf(node_.name())));
      Subgraphs();
      json_.attributeArray("attrs", [&] { Attributes(); });
      json_.attributeArray("incomingEdges", [&] { Edges(); });
      json_.attributeArray("inputsMetadata", [&] { Inputs(); });
      json_.attributeArray("outputsMetadata", [&] { Outputs(); });
    });
  }

 private:
  const std::string& Id(NodeId id) const { return graph_.node_ids[id]; }

  void Pair(llvm::StringRef key, llvm::StringRef value) {
    json_.object([&] {
      json_.attribute("key", key);
      json_.attribute("value", value);
    });
  }

  void Subgraphs() {
    if (!MayCallFunctions(node_)) return;
    std::vector<llvm::StringRef> called;
    for (llvm::StringRef name : CalledFunctions(node_)) {
      if (graph_.graph->module().FindFunction(name) && !llvm::is_contained(called, name))
        called.push_back(name);
    }
    if (called.empty()) return;
    json_.attributeArray("subgraphIds", [&] {
      for (llvm::StringRef name : called) json_.value(Printable(name));
    });
  }

  void Attributes() {
    Pair("name", Printable(node_.name()));
    if (!node_.device().empty()) Pair("device", Printable(node_.device()));
    for (const auto& [key, value] : node_.Attrs())
      Pair(Printable(key), PrintableStart(value.ToString()));
    Value();
    ControlInputs();
    for (int slot = 0; slot < node_.num_inputs() + node_.num_controls(); ++slot) {
      if (node_.input(slot).node == kNoNode)
        Pair("input " + std::to_string(slot),
             Printable(node_.DanglingText(slot)) + " (there is no such node)");
    }
  }

  void Value() {
    if (!IsConstant(node_)) return;
    auto literal = Literal::FromConst(node_);
    if (!literal) return llvm::consumeError(literal.takeError());
    Pair("__value", PrintableStart(literal->ToString(kMaxElements)));
  }

  void ControlInputs() {
    if (node_.num_controls() == 0) return;
    json_.object([&] {
      json_.attribute("key", "control inputs");
      json_.attributeObject("value", [&] {
        json_.attribute("type", "node_ids");
        json_.attributeArray("nodeIds", [&] {
          for (int i = 0; i < node_.num_controls(); ++i)
            if (Node from = node_.control(i)) json_.value(Id(from.id()));
        });
      });
    });
  }

  // Returns the id of an input: "0", "1", ... for data, "^0", "^1", ... for control.
  std::string SlotId(int slot) const {
    return slot < node_.num_inputs() ? std::to_string(slot)
                                     : "^" + std::to_string(slot - node_.num_inputs());
  }

  void Edges() {
    for (int slot = 0; slot < node_.num_inputs() + node_.num_controls(); ++slot) {
      Port port = node_.input(slot);
      if (port.node == kNoNode) continue;
      json_.object([&] {
        json_.attribute("sourceNodeId", Id(port.node));
        json_.attribute("sourceNodeOutputId",
                        port.IsControl() ? kControl.str() : std::to_string(port.index));
        json_.attribute("targetNodeInputId", SlotId(slot));
      });
    }
  }

  void Metadata(llvm::StringRef id, llvm::function_ref<void()> attributes) {
    json_.object([&] {
      json_.attribute("id", id);
      json_.attributeArray("attrs", attributes);
    });
  }

  void Inputs() {
    for (int slot = 0; slot < node_.num_inputs(); ++slot) {
      llvm::StringRef name = info_ ? ArgumentOfInput(node_, *info_, slot) : "";
      if (!name.empty()) Metadata(SlotId(slot), [&] { Pair("__tensor_tag", Printable(name)); });
    }
    for (int i = 0; i < node_.num_controls(); ++i)
      Metadata(SlotId(node_.num_inputs() + i), [&] { Pair("__tensor_tag", kControl); });
  }

  void Outputs() {
    for (int port : ShownOutputs(node_))
      Metadata(std::to_string(port), [&] { Output({node_.id(), port}); });
    if (!node_.UsesOf(kControlPort).empty())
      Metadata(kControl, [&] { Pair("tensor_name", "^" + Id(node_.id())); });
  }

  void Output(Port port) {
    Pair("tensor_name", OutputName(Id(node_.id()), port.index));
    const Shape& shape = shapes_.OfPort(port);
    Pair("tensor_shape", shape.known_rank() ? shape.ToString() : "unknown");
    DataType dtype = shapes_.TypeOf(port);
    if (dtype != proto::DT_INVALID) Pair("dtype", DataTypeName(dtype));
    llvm::StringRef name = info_ ? OutputOfPort(node_, *info_, port.index).first : "";
    if (!name.empty()) Pair("__tensor_tag", Printable(name));
  }

  const ExplorerGraph& graph_;
  const ShapeMap& shapes_;
  Node node_;
  const OpInfo* info_;
  llvm::json::OStream& json_;
};

class GraphWriter {
 public:
  explicit GraphWriter(llvm::raw_ostream* os) : json_(*os, 1) {}

  void Write(const Module& module, llvm::StringRef label) {
    json_.object([&] {
      json_.attribute("label", Printable(label));
      json_.attributeArray("graphs", [&] {
        ModuleShapes shapes(module);
        for (const ExplorerGraph& graph : ExplorerGraphs(module))
          WriteGraph(graph, shapes.Of(*graph.graph));
      });
    });
  }

 private:
  void WriteGraph(const ExplorerGraph& graph, const ShapeMap& shapes) {
    json_.object([&] {
      json_.attribute("id", graph.id);
      json_.attributeArray("nodes", [&] {
        for (Node node : graph.graph->nodes()) {
          json_.rawValue([&](llvm::raw_ostream& line) {
            llvm::json::OStream json(line);
            NodeLineWriter(graph, shapes, node, &json).Write();
          });
        }
      });
      WriteOverlay(graph);
    });
  }

  void WriteOverlay(const ExplorerGraph& graph) {
    bool any = false;
    for (Node node : graph.graph->nodes()) any |= node.num_controls() > 0;
    if (!any) return;
    json_.attributeObject("tasksData", [&] {
      for (const char* pane : {"edgeOverlaysDataListLeftPane", "edgeOverlaysDataListRightPane"})
        json_.attributeArray(pane, [&] { json_.object([&] { Overlay(graph); }); });
    });
  }

  void Overlay(const ExplorerGraph& graph) {
    json_.attribute("type", "edge_overlays");
    json_.attribute("name", "control edges");
    json_.attributeArray("overlays", [&] {
      json_.object([&] {
        json_.attribute("name", "control edges");
        json_.attribute("edgeColor", "#d55e00");
        json_.attributeArray("edges", [&] { ControlEdges(graph); });
      });
    });
  }

  void ControlEdges(const ExplorerGraph& graph) {
    for (Node node : graph.graph->nodes()) {
      for (int i = 0; i < node.num_controls(); ++i) {
        Node from = node.control(i);
        if (!from) continue;
        json_.rawValue([&](llvm::raw_ostream& line) {
          llvm::json::OStream json(line);
          json.object([&] {
            json.attribute("sourceNodeId", graph.node_ids[from.id()]);
            json.attribute("targetNodeId", graph.node_ids[node.id()]);
          });
        });
      }
    }
  }

  llvm::json::OStream json_;
};

}  // namespace

std::vector<ExplorerGraph> ExplorerGraphs(const Module& module) {
  std::string main = "main";
  while (module.FindFunction(main)) main += "_";
  std::vector<ExplorerGraph> graphs;
  graphs.push_back({main, &module.main, NodeIdsOf(module.main, "")});
  for (const auto& function : module.functions) {
    graphs.push_back({Printable(function->name()), &function->body,
                      NodeIdsOf(function->body, function->name().str() + "/")});
  }
  return graphs;
}

void WriteModelExplorer(const Module& module, llvm::StringRef label, llvm::raw_ostream& os) {
  GraphWriter(&os).Write(module, label);
  os << "\n";
}

}  // namespace grapnel
