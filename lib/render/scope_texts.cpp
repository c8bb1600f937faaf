#include "lib/render/scope_texts.h"

#include <algorithm>
#include <array>
#include <map>

#include "lib/render/labels.h"
#include "lib/render/node_texts.h"

namespace grapnel {
namespace {

// Visits every shown node in a scope, at any depth.
template <typename Visit>
void ForEachNode(const BodyScopes& scopes, ScopeId below, Visit&& visit) {
  const ScopeTree& tree = scopes.tree();
  llvm::SmallVector<ScopeId, 8> stack = {below};
  while (!stack.empty()) {
    const Scope& scope = tree.scope(stack.back());
    for (NodeId op : tree.Ops(stack.pop_back_val())) visit(scopes.graph().node(op));
    for (uint32_t i = 0; i < scope.num_children; ++i) stack.push_back(scope.first_child + i);
  }
}

using Counts = std::map<std::string, size_t>;

// Writes how many nodes have each text. Writes nothing if all texts are empty.
void WriteCounts(llvm::StringRef key, const Counts& counts, llvm::json::OStream& json) {
  if (counts.empty() || (counts.size() == 1 && counts.begin()->first.empty())) return;
  json.attributeObject(key, [&] {
    for (const auto& [text, count] : counts) json.attribute(text.empty() ? "none" : text, count);
  });
}

// The nodes of a scope, counted.
struct ScopeCounts {
  std::map<StringId, size_t> kinds;
  Counts devices, clusters;
};

ScopeCounts CountNodes(const PageBody& body, ScopeId scope) {
  bool placed = body.marks && body.marks->device_of;
  ScopeCounts counts;
  llvm::SmallDenseMap<StringId, size_t, 16> kinds;
  // By device as the graph names it: a node with it, and the number of nodes. Shortening a device
  // is expensive.
  llvm::SmallDenseMap<StringId, std::pair<NodeId, size_t>, 8> asked;
  ForEachNode(body.scopes, scope, [&](const Node& node) {
    ++kinds[node.op_id()];
    if (!placed) ++asked.try_emplace(node.device_id(), node.id(), 0).first->second.second;
    if (placed) ++counts.devices[PageDevice(node, body.marks)];
    if (!body.clusters.empty()) ++counts.clusters[Printable(body.clusters.Of(node))];
  });
  counts.kinds.insert(kinds.begin(), kinds.end());
  for (const auto& [id, of_device] : asked) {
    Node node = body.scopes.graph().node(of_device.first);
    counts.devices[PageDevice(node, body.marks)] += of_device.second;
  }
  return counts;
}

class ContentsWriter {
 public:
  ContentsWriter(const ScopeTree& tree, const ScopeView& view, ScopeId scope)
      : tree_(tree), scope_(scope), view_(view) {
    anchor_ = kNoNode;
    for (const ScopeEntity& entity : view_.entities) anchor_ = std::min(anchor_, entity.node);
    if (anchor_ == kNoNode) anchor_ = 0;
  }

  NodeId anchor() const { return anchor_; }

  void Write(llvm::json::OStream& json) const {
    json.object([&] {
      Entities(json);
      Above(json);
      Ports("sources", view_.sources, json);
      Ports("sinks", view_.sinks, json);
      Edges(json);
      Unseen(json);
    });
  }

 private:
  int64_t Relative(NodeId node) const { return int64_t{node} - anchor_; }

  void NodeOrNull(NodeId node, llvm::json::OStream& json) const {
    if (node == kNoNode)
      json.value(nullptr);
    else
      json.value(Relative(node));
  }

  // Writes the child scopes, then the ops: the view has them in this order.
  void Entities(llvm::json::OStream& json) const {
    llvm::ArrayRef<ScopeEntity> all = view_.entities;
    auto scopes = all.take_while([](const ScopeEntity& one) { return one.scope != kNoScope; });
    llvm::ArrayRef<ScopeEntity> ops = all.drop_front(scopes.size());
    if (!scopes.empty()) {
      json.attributeArray("scopes", [&] {
        for (const ScopeEntity& one : scopes) json.value(int64_t{one.scope} - scope_);
      });
    }
    if (llvm::any_of(scopes, [](const ScopeEntity& one) { return one.node != kNoNode; })) {
      json.attributeArray("alone", [&] {
        for (const ScopeEntity& one : scopes) NodeOrNull(one.node, json);
      });
    }
    if (ops.empty()) return;
    json.attributeArray("ops", [&] {
      for (const ScopeEntity& one : ops) json.value(Relative(one.node));
    });
  }

  // Writes which entities are scopes that are drawn above the others on their cycles: replicas.
  void Above(llvm::json::OStream& json) const {
    auto is_kept = [&](const ScopeEntity& one) {
      return one.scope != kNoScope && tree_.scope(tree_.scope(one.scope).core).kept;
    };
    if (llvm::none_of(view_.entities, is_kept)) return;
    json.attributeArray("above", [&] {
      for (size_t i = 0; i < view_.entities.size(); ++i) {
        if (is_kept(view_.entities[i])) json.value(i);
      }
    });
  }

  void Ports(llvm::StringRef key, llvm::ArrayRef<ScopePort> ports,
             llvm::json::OStream& json) const {
    if (ports.empty()) return;
    json.attributeArray(key, [&] {
      for (const ScopePort& port : ports) {
        json.array([&] {
          if (port.rest) return;
          if (port.far.scope != kNoScope) json.value(int64_t{port.far.scope} - scope_);
          NodeOrNull(port.far.node, json);
        });
      }
    });
  }

  void Edges(llvm::json::OStream& json) const {
    if (view_.edges.empty()) return;
    std::map<llvm::StringRef, int64_t> numbers;
    std::vector<llvm::StringRef> labels;
    std::string text;  // most of the text, so it is written without the stream
    for (const EdgeBundle& edge : view_.edges) {
      int64_t label = 0;
      if (!edge.label.empty()) {
        auto [it, is_new] = numbers.try_emplace(edge.label, labels.size() + 1);
        if (is_new) labels.push_back(edge.label);
        label = it->second;
      }
      int64_t flags = (edge.control ? 1 : 0) | (edge.handles ? 2 : 0) | (edge.back ? 4 : 0);
      text += text.empty() ? "[[" : ",[";
      std::array<int64_t, 5> all = {edge.from, edge.to, edge.count, flags, label};
      for (int64_t number : WithoutDefaults(all)) text += std::to_string(number) + ",";
      text.back() = ']';
    }
    json.attributeBegin("edges");
    json.rawValue(text + "]");
    json.attributeEnd();
    if (labels.empty()) return;
    json.attributeArray("labels", [&] {
      for (llvm::StringRef label : labels) json.value(label);
    });
  }

  // Leaves out what is the default at the end of an edge's numbers.
  static llvm::ArrayRef<int64_t> WithoutDefaults(llvm::ArrayRef<int64_t> edge) {
    while (edge.size() > 3 && edge.back() == 0) edge = edge.drop_back();
    return edge.size() == 3 && edge.back() == 1 ? edge.drop_back() : edge;
  }

  void Unseen(llvm::json::OStream& json) const {
    auto is_any = [](const ScopeView::Unseen& one) { return one.in > 0 || one.out > 0; };
    if (llvm::none_of(view_.unseen_control, is_any)) return;
    json.attributeArray("unseen", [&] {
      for (size_t i = 0; i < view_.unseen_control.size(); ++i) {
        const ScopeView::Unseen& unseen = view_.unseen_control[i];
        if (!is_any(unseen)) continue;
        json.array([&] {
          json.value(i);
          json.value(unseen.in);
          json.value(unseen.out);
        });
      }
    });
  }

  const ScopeTree& tree_;
  ScopeId scope_;
  NodeId anchor_;
  const ScopeView& view_;
};

const char* SiblingsText(const Scope& group) {
  if (group.series || group.slice) return "alike";
  if (group.inputs) return "inputs";
  return group.part ? "neighbors" : "named";
}

}  // namespace

std::string AboutText(const PageBody& body, ScopeId id) {
  const BodyScopes& scopes = body.scopes;
  const Scope& scope = scopes.tree().scope(id);
  ScopeCounts counts = CountNodes(body, id);
  const Cost& cost = scopes.costs().Of(id);
  return JsonText([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("ops", scope.num_shown);
      if (scope.group) json.attribute("siblings", SiblingsText(scope));
      if (scope.num_taken) json.attribute("taken", scope.num_taken);
      json.attribute("kinds", KindsText(scopes.graph(), counts.kinds));
      if (!scope.layer.empty())
        json.attribute("group", static_cast<int>(MainGroup(scopes.graph(), counts.kinds)));
      WriteCounts("devices", counts.devices, json);
      WriteCounts("clusters", counts.clusters, json);
      if (cost.flops) json.attribute("flops", cost.flops);
      if (cost.bytes) json.attribute("bytes", cost.bytes);
    });
  });
}

ContentsText ContentsOf(const BodyScopes& scopes, ScopeId scope) {
  ScopeView view = scopes.View(scope);
  ContentsWriter writer(scopes.tree(), view, scope);
  ContentsText contents;
  contents.text = JsonText([&](llvm::json::OStream& json) { writer.Write(json); });
  contents.anchor = writer.anchor();
  return contents;
}

void CountMarked(const PageBody& body, ScopeId scope, llvm::MutableArrayRef<int32_t> counts) {
  ForEachNode(body.scopes, scope, [&](const Node& node) {
    if (int8_t kind = body.kinds[node.id()]; kind >= 0) ++counts[kind];
  });
}

}  // namespace grapnel
