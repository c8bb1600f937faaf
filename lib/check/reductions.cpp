#include "lib/check/reductions.h"

#include <optional>
#include <set>

#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/shape/inference.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

struct ItemPlace {
  Graph* graph = nullptr;
  Function* function = nullptr;
  NodeId id = kNoNode;
  explicit operator bool() const { return id != kNoNode; }
  Node node() const { return graph->node(id); }
  void Changed() const {
    if (function) function->changed = true;
  }
};
ItemPlace PlaceOf(Module& module, const Item& item) {
  ItemPlace place;
  place.function = item.function.empty() ? nullptr : module.FindFunction(item.function);
  if (!item.function.empty() && !place.function) return place;
  place.graph = place.function ? &place.function->body : &module.main;
  place.id = place.graph->Find(item.node).id();
  return place;
}

// Returns an item for each node for which `wanted` is true, except arguments and results of
// functions. With `main_only`, only nodes of the main graph.
template <typename Wanted>
Items NodesWhere(Module& module, Wanted wanted, bool main_only = false) {
  Items items;
  for (Body body : Bodies(module)) {
    if (main_only && body.function) break;
    for (NodeId id : TopologicalOrder(*body.graph)) {
      Node node = body.graph->node(id);
      if (node.op() == "_Arg" || node.op() == "_Retval" || !wanted(node)) continue;
      items.push_back({body.function ? body.function->name().str() : "", node.name().str(), "", 0});
    }
  }
  return items;
}

class DropResults : public Reduction {
  Items Find(Module& module) const override {
    return NodesWhere(
        module, [](const Node& node) { return node.uses().empty(); }, true);
  }
  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    for (const Item& item : items) {
      ItemPlace place = PlaceOf(module, item);
      if (place && place.node().uses().empty() && module.main.num_nodes() > 1)
        module.main.RemoveNode(place.id);
    }
  }
};

// Removes nodes that no node reads; the nodes that they read stay, as the new results.
class PeelResults : public DropResults {
  bool MakesResults() const override { return true; }
};

class TurnIntoPlaceholders : public Reduction {
  static bool OnlyFirstOutput(const Node& node) {
    return llvm::all_of(node.uses(), [&](const Use& use) {
      return node.graph().node(use.node).input(use.slot).index <= 0;
    });
  }
  static bool IsWanted(const Node& node) {
    llvm::StringRef op = node.op();
    return op != "Placeholder" && op != "Const" && op != "NoOp" && node.HasDataUses() &&
           OnlyFirstOutput(node);
  }
  Items Find(Module& module) const override { return NodesWhere(module, IsWanted, true); }
  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    Graph& graph = module.main;
    ShapeMap shapes = InferShapes(graph);
    struct Change {
      NodeId id;
      DataType type;
      Shape shape;
    };
    std::vector<Change> changes;
    for (const Item& item : items) {
      Node node = graph.Find(item.node);
      if (!node || !IsWanted(node)) continue;
      DataType type = TypeOfPort(graph, {node.id(), 0});
      if (type == proto::DT_INVALID || IsRefType(type) || type == proto::DT_RESOURCE ||
          type == proto::DT_VARIANT)
        continue;
      changes.push_back({node.id(), type, shapes.OfPort({node.id(), 0})});
    }
    for (const Change& change : changes) {
      graph.SetInputs(change.id, {});
      graph.SetOp(change.id, "Placeholder");
      for (const auto& [key, value] : graph.node(change.id).Attrs())
        graph.RemoveAttr(change.id, key.str());
      graph.SetAttr(change.id, "dtype", attr::Type(change.type));
      graph.SetAttr(change.id, "shape", attr::ShapeOf(change.shape));
    }
  }
};

class GoRound : public Reduction {
  // Returns the index of an input of the same dtype as output 0; -1 if there is none, or if output
  // 0 is not the only one with readers.
  static int InputLike(const Node& node) {
    DataType type = TypeOfPort(node.graph(), {node.id(), 0});
    if (!node.HasDataUses() || type == proto::DT_INVALID) return -1;
    for (const Use& use : node.uses()) {
      if (node.graph().node(use.node).input(use.slot).index > 0) return -1;
    }
    for (int i = 0; i < node.num_inputs(); ++i) {
      Port port = node.input(i);
      if (port.node != kNoNode && TypeOfPort(node.graph(), port) == type) return i;
    }
    return -1;
  }
  Items Find(Module& module) const override {
    return NodesWhere(module, [](const Node& node) { return InputLike(node) >= 0; });
  }
  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    for (const Item& item : items) {
      ItemPlace place = PlaceOf(module, item);
      int slot = place ? InputLike(place.node()) : -1;
      if (slot < 0) continue;
      Port source = place.node().input(slot);
      std::vector<Use> uses(place.node().uses().begin(), place.node().uses().end());
      for (const Use& use : uses) {
        bool control = place.graph->node(use.node).input(use.slot).IsControl();
        if (use.node == source.node) continue;
        place.graph->SetInput(use.node, use.slot,
                              control ? Port{source.node, kControlPort} : source);
      }
      place.Changed();
    }
  }
};

class DropControlEdges : public Reduction {
  Items Find(Module& module) const override {
    Items items;
    for (Body body : Bodies(module)) {
      for (Node node : body.graph->nodes()) {
        for (int i = 0; i < node.num_controls(); ++i) {
          Node from = node.control(i);
          if (!from) continue;  // the graph has no such node
          items.push_back({body.function ? body.function->name().str() : "", node.name().str(),
                           from.name().str(), 0});
        }
      }
    }
    return items;
  }
  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    for (const Item& item : items) {
      ItemPlace place = PlaceOf(module, item);
      Node from = place ? place.graph->Find(item.part) : Node();
      if (!from) continue;
      place.graph->RemoveControl(place.id, from.id());
      place.Changed();
    }
  }
};

class DropDevices : public Reduction {
  Items Find(Module& module) const override {
    return NodesWhere(module, [](const Node& node) { return !node.device().empty(); });
  }
  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    for (const Item& item : items) {
      ItemPlace place = PlaceOf(module, item);
      if (!place) continue;
      place.graph->SetDevice(place.id, "");
      place.Changed();
    }
  }
};

class DropAttributes : public Reduction {
  static bool CanGo(const OpInfo& info, llvm::StringRef key) {
    const OpAttr* attr = info.FindAttr(key);
    return !attr || attr->default_value.has_value();
  }
  Items Find(Module& module) const override {
    Items items;
    for (Body body : Bodies(module)) {
      for (Node node : body.graph->nodes()) {
        const OpInfo* info = FindOp(node.op());
        if (!info) continue;
        for (const auto& [key, value] : node.Attrs()) {
          if (CanGo(*info, key))
            items.push_back({body.function ? body.function->name().str() : "", node.name().str(),
                             key.str(), 0});
        }
      }
    }
    return items;
  }
  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    for (const Item& item : items) {
      ItemPlace place = PlaceOf(module, item);
      const OpInfo* info = place ? FindOp(place.node().op()) : nullptr;
      if (!info || !CanGo(*info, item.part)) continue;
      place.graph->RemoveAttr(place.id, item.part);
      place.Changed();
    }
  }
};

// Sets all elements of a constant that is not of strings to its first element.
class FlattenConstants : public Reduction {
  static bool IsWanted(const Node& node) {
    if (node.op() != "Const") return false;
    auto literal = Literal::FromConst(node);
    if (!literal) {
      llvm::consumeError(literal.takeError());
      return false;
    }
    return literal->dtype() != proto::DT_STRING && literal->num_elements() > 1 &&
           !literal->is_splat();
  }
  Items Find(Module& module) const override { return NodesWhere(module, IsWanted); }
  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    for (const Item& item : items) {
      ItemPlace place = PlaceOf(module, item);
      if (!place || !IsWanted(place.node())) continue;
      Literal literal = llvm::cantFail(Literal::FromConst(place.node()));
      size_t size = DataTypeSize(literal.dtype());
      Literal plain =
          Literal::Make(literal.dtype(), literal.dims(), literal.bytes().take_front(size));
      place.graph->SetAttr(place.id, "value", attr::Tensor(plain.ToTensorProto(true)));
      place.Changed();
    }
  }
};

// Replaces a dimension size by a smaller one everywhere in the main graph: in the shapes of
// placeholders and constants, and in the values of constants that look like shapes.
class ShrinkDimensions : public Reduction {
 public:
  explicit ShrinkDimensions(int64_t to) : to_(to) {}

 private:
  Items Find(Module& module) const override {
    std::set<int64_t> seen;
    for (Node node : module.main.nodes()) {
      if (node.op() == "Placeholder") {
        auto attr = node.FindAttr("shape");
        auto shape = attr ? attr->AsShape() : std::nullopt;
        for (int i = 0; shape && shape->known_rank() && i < shape->rank(); ++i)
          seen.insert(shape->dim(i));
      } else if (auto literal = ConstantOf(node)) {
        seen.insert(literal->dims().begin(), literal->dims().end());
      }
    }
    Items items;
    for (int64_t dim : llvm::reverse(seen)) {
      if (dim > to_) items.push_back({"", "", "", dim});
    }
    return items;
  }

  void Apply(Module& module, llvm::ArrayRef<Item> items) const override {
    std::set<int64_t> from;  // not a DenseSet, which cannot hold two of the numbers
    for (const Item& item : items) from.insert(item.number);
    std::vector<NodeId> ids;
    for (Node node : module.main.nodes()) ids.push_back(node.id());
    for (NodeId id : ids) {
      Node node = module.main.node(id);
      if (node.op() == "Placeholder") {
        auto attr = node.FindAttr("shape");
        auto shape = attr ? attr->AsShape() : std::nullopt;
        if (!shape || !shape->known_rank()) continue;
        for (int i = 0; i < shape->rank(); ++i) {
          if (from.contains(shape->dim(i))) shape->set_dim(i, to_);
        }
        module.main.SetAttr(id, "shape", attr::ShapeOf(*shape));
      } else if (auto literal = ConstantOf(node)) {
        if (auto smaller = Smaller(*literal, from))
          module.main.SetAttr(id, "value", attr::Tensor(smaller->ToTensorProto(true)));
      }
    }
  }

  static std::optional<Literal> ConstantOf(const Node& node) {
    if (node.op() != "Const") return std::nullopt;
    auto literal = Literal::FromConst(node);
    if (literal && literal->dtype() != proto::DT_STRING) return std::move(*literal);
    if (!literal) llvm::consumeError(literal.takeError());
    return std::nullopt;
  }

  std::optional<Literal> Smaller(const Literal& literal, const std::set<int64_t>& from) const {
    Dims dims(literal.dims().begin(), literal.dims().end());
    bool is_shape = dims.size() == 1 && dims[0] <= 8 &&
                    (literal.dtype() == proto::DT_INT32 || literal.dtype() == proto::DT_INT64);
    if (is_shape) {
      std::vector<int64_t> values = literal.AsInts();
      bool any = false;
      for (int64_t& value : values) {
        if (!from.contains(value)) continue;
        value = to_;
        any = true;
      }
      if (any) return Literal::Integers(literal.dtype(), dims, values);
      return std::nullopt;
    }
    bool any = false;
    for (int64_t& dim : dims) {
      any |= from.contains(dim);
      if (from.contains(dim)) dim = to_;
    }
    if (!any) return std::nullopt;
    std::optional<int64_t> count = NumElements(dims);
    size_t size = DataTypeSize(literal.dtype());
    bool one = literal.is_splat() || literal.num_elements() == 1;
    return Literal::Make(literal.dtype(), dims,
                         literal.bytes().take_front(one ? size : *count * size));
  }

  int64_t to_;
};

}  // namespace

std::vector<std::unique_ptr<Reduction>> AllReductions() {
  std::vector<std::unique_ptr<Reduction>> reductions;
  reductions.push_back(std::make_unique<DropResults>());
  reductions.push_back(std::make_unique<TurnIntoPlaceholders>());
  reductions.push_back(std::make_unique<PeelResults>());
  reductions.push_back(std::make_unique<GoRound>());
  reductions.push_back(std::make_unique<DropControlEdges>());
  reductions.push_back(std::make_unique<DropAttributes>());
  reductions.push_back(std::make_unique<DropDevices>());
  reductions.push_back(std::make_unique<FlattenConstants>());
  reductions.push_back(std::make_unique<ShrinkDimensions>(1));
  reductions.push_back(std::make_unique<ShrinkDimensions>(2));
  return reductions;
}

}  // namespace grapnel
