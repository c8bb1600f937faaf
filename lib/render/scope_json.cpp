#include <map>

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/layering.h"
#include "lib/render/page_writers.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

class ScopeWriter {
 public:
  ScopeWriter(const PageBody& body, ScopeId scope, llvm::json::OStream& json)
      : body_(body.scopes),
        tree_(body_.tree()),
        id_(scope),
        find_(body.find),
        marks_(body.marks),
        entry_(body.entry),
        clusters_(*body.clusters),
        json_(json),
        has_results_(IsFunctionGraph(body_.graph())),
        view_(body_.LayOut(scope).view),
        layering_(body_.LayOut(scope).layering) {}

  void Write() {
    json_.object([&] {
      json_.attribute("scope", id_);
      json_.attribute("path", Printable(tree_.PathText(id_)));
      json_.attribute("ops", tree_.scope(id_).num_ops);
      WriteCost(body_.costs().Of(kRootScope), "all_");
      json_.attributeArray("boxes", [&] {
        for (size_t i = 0; i < view_.entities.size(); ++i) Box(i);
      });
      Ports("sources", view_.sources);
      Ports("sinks", view_.sinks);
      EdgesAndLayers();
    });
  }

 private:
  // Removes this scope's path from the beginning of `path`.
  std::string Relative(llvm::StringRef path) const {
    llvm::StringRef base = tree_.scope(tree_.RealScope(id_)).path;
    llvm::StringRef rest = path;
    if (!base.empty() && rest.consume_front(base) && rest.consume_front("/") && !rest.empty())
      return Printable(rest);
    if (!base.empty() && path == base) return Printable(path.substr(path.rfind('/') + 1));
    return Printable(path);
  }

  void Box(size_t index) {
    const ScopeEntity& entity = view_.entities[index];
    json_.object([&] {
      json_.attribute("key", entity.Key());
      if (entity.node != kNoNode) {
        Op(body_.graph().node(entity.node));
      } else {
        ClosedScope(entity.scope);
      }
      Notes(index);
      WriteCost(CostOfEntity(entity), "");
      if (marks_) Marks(entity);
    });
  }

  // Returns the cost of an op or of a scope. That of an op includes the constants folded into it.
  Cost CostOfEntity(const ScopeEntity& entity) const {
    if (entity.node == kNoNode) return body_.costs().Of(entity.scope);
    Node node = body_.graph().node(entity.node);
    Cost cost = CostOf(node, body_.shapes());
    for (int i = 0; i < node.num_inputs(); ++i) {
      Node input = node.input_node(i);
      while (input && body_.folding().uses[input.id()] == NodeUse::kFolded) {
        cost += CostOf(input, body_.shapes());
        input = input.num_inputs() == 1 ? input.input_node(0) : Node();
      }
    }
    return cost;
  }

  void WriteCost(const Cost& cost, const std::string& prefix) {
    if (cost.flops) json_.attribute(prefix + "flops", cost.flops);
    if (cost.bytes) json_.attribute(prefix + "bytes", cost.bytes);
  }

  // Writes the number of marked ops of each kind in a box, if there are any.
  void Marks(const ScopeEntity& entity) {
    std::vector<size_t> counts(marks_->kinds.size(), 0);
    auto count = [&](const Node& node) {
      int kind = marks_->kind_of(node);
      if (kind >= 0) ++counts[kind];
    };
    if (entity.node != kNoNode) {
      count(body_.graph().node(entity.node));
    } else {
      ForEachNode(entity.scope, count);
    }
    if (llvm::all_of(counts, [](size_t n) { return n == 0; })) return;
    json_.attributeArray("marks", [&] {
      for (size_t n : counts) json_.value(n);
    });
  }

  void Op(const Node& node) {
    json_.attribute("kind", "op");
    json_.attribute("id", node.id());
    std::string op = Printable(node.op());
    if (IsArgument(node)) op = "arg " + std::to_string(node.GetInt("index"));
    if (IsResult(node)) op = "result " + std::to_string(node.GetInt("index"));
    json_.attribute("op", op);
    json_.attribute("name", Relative(node.name()));
    json_.attribute("path", Printable(node.name()));
    OpGroup group = GroupOf(node.op());
    json_.attribute("group", static_cast<int>(group));
    if (group == OpGroup::kInput) json_.attribute("input", true);
    bool ends = IsResult(node) || (!has_results_ && node.uses().empty() && NumOutputs(node) > 0);
    if (ends && group != OpGroup::kInput) json_.attribute("output", true);
    if (std::string device = PageDevice(node, marks_); !device.empty())
      json_.attribute("device", device);
    if (std::string cluster = Printable(clusters_.Of(node)); !cluster.empty())
      json_.attribute("cluster", cluster);
    WriteCalls(node, find_, json_);
  }

  void ClosedScope(ScopeId child) {
    const Scope& scope = tree_.scope(tree_.scope(child).core);
    json_.attribute("kind", "scope");
    json_.attribute("scope", tree_.scope(child).core);
    json_.attribute("name", Relative(tree_.TitleText(tree_.scope(child).core)));
    json_.attribute("path", Printable(tree_.PathText(tree_.scope(child).core)));
    json_.attribute("ops", scope.num_ops);
    if (scope.group)
      json_.attribute("siblings", scope.series ? "alike" : scope.part ? "neighbors" : "named");
    if (tree_.IsMadeUp(tree_.scope(child).core)) json_.attribute("made_up", true);
    if (scope.num_taken) json_.attribute("taken", scope.num_taken);
    Counts("devices", child, [&](const Node& node) { return PageDevice(node, marks_); });
    Counts("clusters", child, [&](const Node& node) { return Printable(clusters_.Of(node)); });
  }

  // Visits every shown node in a scope, at any depth.
  template <typename Visit>
  void ForEachNode(ScopeId below, Visit&& visit) const {
    llvm::SmallVector<ScopeId, 8> stack = {below};
    while (!stack.empty()) {
      const Scope& scope = tree_.scope(stack.back());
      for (NodeId op : tree_.Ops(stack.pop_back_val())) visit(body_.graph().node(op));
      for (uint32_t i = 0; i < scope.num_children; ++i) stack.push_back(scope.first_child + i);
    }
  }

  // Writes how many nodes in the scope have each text (a device, a cluster). Writes nothing if all
  // texts are empty.
  template <typename TextOf>
  void Counts(llvm::StringRef key, ScopeId below, TextOf&& text_of) {
    std::map<std::string, size_t> counts;
    ForEachNode(below, [&](const Node& node) { ++counts[text_of(node)]; });
    if (counts.size() == 1 && counts.begin()->first.empty()) return;
    json_.attributeObject(key, [&] {
      for (auto& [text, count] : counts) json_.attribute(text.empty() ? "none" : text, count);
    });
  }

  void Notes(size_t index) {
    const ScopeEntity& entity = view_.entities[index];
    std::vector<std::string> notes;
    if (entity.node != kNoNode) {
      std::vector<NodeId> noted;
      notes = ConstantNotes(body_.graph().node(entity.node), body_.folding().uses, &body_.shapes(),
                            entry_, &noted);
      if (!noted.empty()) json_.attributeArray("noted", [&] { Values(noted); });
    } else {
      std::map<StringId, size_t> kinds;
      ForEachNode(entity.scope, [&](const Node& node) { ++kinds[node.op_id()]; });
      notes.push_back(KindsText(body_.graph(), kinds));
    }
    const ScopeView::Unseen& unseen = view_.unseen_control[index];
    if (unseen.in) notes.push_back("waits for " + Plural(unseen.in, "op"));
    if (unseen.out)
      notes.push_back(Plural(unseen.out, "op") + (unseen.out == 1 ? " waits" : " wait") +
                      " for this");
    if (notes.empty()) return;
    json_.attributeArray("notes", [&] {
      for (const std::string& note : notes) json_.value(note);
    });
  }

  void Ports(llvm::StringRef key, llvm::ArrayRef<ScopePort> ports) {
    json_.attributeArray(key, [&] {
      for (const ScopePort& port : ports) {
        json_.object([&] {
          json_.attribute("key", port.rest ? "rest" : port.far.Key());
          json_.attribute("name", port.rest ? "others" : FarName(port.far));
        });
      }
    });
  }

  std::string FarName(const ScopeEntity& far) const {
    if (far.node != kNoNode) return Printable(body_.graph().node(far.node).name());
    return Printable(tree_.TitleText(tree_.scope(far.scope).core));
  }

  void EdgesAndLayers() {
    json_.attributeArray("edges", [&] {
      for (size_t i = 0; i < view_.edges.size(); ++i) Edge(view_.edges[i], i);
    });
    json_.attribute("items", layering_.num_items);
    json_.attributeArray("layers", [&] {
      for (const std::vector<uint32_t>& layer : layering_.layers) Numbers(layer);
    });
  }

  void Edge(const EdgeBundle& edge, size_t index) {
    json_.object([&] {
      json_.attribute("from", edge.from);
      json_.attribute("to", edge.to);
      json_.attribute("count", edge.count);
      if (edge.control) json_.attribute("control", true);
      if (edge.handles) json_.attribute("handles", true);
      if (layering_.upwards[index]) json_.attribute("up", true);
      if (!edge.label.empty()) json_.attribute("label", edge.label);
      if (!layering_.bends[index].empty())
        json_.attributeArray("bends", [&] {
          for (uint32_t bend : layering_.bends[index]) json_.value(bend);
        });
    });
  }

  void Numbers(llvm::ArrayRef<uint32_t> numbers) {
    json_.array([&] { Values(numbers); });
  }

  void Values(llvm::ArrayRef<uint32_t> numbers) {
    for (uint32_t number : numbers) json_.value(number);
  }

  const BodyScopes& body_;
  const ScopeTree& tree_;
  ScopeId id_;
  const BodyFinder& find_;
  const PageMarks* marks_;
  const SignatureBody* entry_;
  const XlaClusters& clusters_;
  llvm::json::OStream& json_;
  bool has_results_;  // the graph has nodes for its results
  const ScopeView& view_;
  const Layering& layering_;
};

}  // namespace

void WriteScope(const PageBody& body, ScopeId scope, llvm::json::OStream& json) {
  ScopeWriter(body, scope, json).Write();
}

}  // namespace grapnel
