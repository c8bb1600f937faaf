#include "lib/render/scope_view.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "lib/render/labels.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"

namespace grapnel {

std::string ScopeEntity::Key() const {
  return scope != kNoScope ? "s" + std::to_string(scope) : "n" + std::to_string(node);
}

BodyScopes::BodyScopes(const Graph& graph, const FoldOptions& fold, const ShapeMap& shapes,
                       const BoxLayers* layers, const ShapeMap* cost_shapes)
    : graph_(graph),
      folding_(Fold(graph, {}, fold)),
      shapes_(shapes),
      cost_shapes_(cost_shapes ? *cost_shapes : shapes),
      signature_(fold.signature) {
  tree_ = std::make_unique<ScopeTree>(graph, folding_.uses, kGroupAbove, false, layers);
  NumberScopes();
  ListEdges();
}

void BodyScopes::NumberScopes() {
  enter_.resize(tree_->size());
  leave_.resize(tree_->size());
  // The size of a scope is the number of scopes in it, itself included. Children have higher ids
  // than their parents, so a backward pass computes all sizes.
  std::vector<uint32_t> size(tree_->size(), 1);
  for (ScopeId id = static_cast<ScopeId>(tree_->size()); id-- > 1;)
    size[tree_->scope(id).parent] += size[id];
  for (ScopeId id = 0; id < tree_->size(); ++id) {
    const Scope& scope = tree_->scope(id);
    leave_[id] = enter_[id] + size[id];
    uint32_t next = enter_[id] + 1;
    for (ScopeId child = scope.first_child; child < scope.first_child + scope.num_children;
         ++child) {
      enter_[child] = next;
      next += size[child];
    }
  }
}

void BodyScopes::ListEdges() {
  for (Node node : graph_.nodes()) {
    NodeId to = ShownFor(node.id());
    for (Port port : node.inputs()) {
      if (port.node == kNoNode) {
        ++num_dangling_;
        continue;
      }
      NodeId from = ShownFor(port.node);
      bool inside_no_op = from == to && port.node != node.id();
      if (from == kNoNode || to == kNoNode || inside_no_op) {
        ++num_folded_;
      } else {
        edges_.push_back({from, to, port});
      }
    }
  }
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const Edge& a, const Edge& b) { return a.to < b.to; });
  in_begin_.assign(graph_.end_id() + 1, 0);
  out_begin_.assign(graph_.end_id() + 1, 0);
  for (const Edge& edge : edges_) {
    ++in_begin_[edge.to + 1];
    ++out_begin_[edge.from + 1];
  }
  for (NodeId id = 0; id < graph_.end_id(); ++id) {
    in_begin_[id + 1] += in_begin_[id];
    out_begin_[id + 1] += out_begin_[id];
  }
  std::vector<uint32_t> next(out_begin_.begin(), out_begin_.end());
  out_edges_.resize(edges_.size());
  for (uint32_t i = 0; i < edges_.size(); ++i) out_edges_[next[edges_[i].from]++] = i;
}

std::vector<NodeId> BodyScopes::NodesIn(ScopeId scope) const {
  std::vector<NodeId> nodes;
  for (Node node : graph_.nodes())
    if (tree_->ScopeOf(node.id()) != kNoScope && Holds(scope, node.id()))
      nodes.push_back(node.id());
  return nodes;
}

std::vector<ScopeId> BodyScopes::Around(NodeId node) const {
  std::vector<ScopeId> around;
  for (ScopeId id = tree_->ScopeOf(node); id != kNoScope; id = tree_->scope(id).parent)
    if (IsFrame(id)) around.push_back(id);
  std::reverse(around.begin(), around.end());
  if (around.empty() || around[0] != tree_->scope(kRootScope).core)
    around.insert(around.begin(), tree_->scope(kRootScope).core);
  return around;
}

NodeId BodyScopes::HomeOf(NodeId node) const {
  constexpr size_t kMostVisited = 1000;
  if (NodeId shown = ShownFor(node); shown != kNoNode) return shown;
  llvm::SmallVector<NodeId, 8> nearest = {node};
  llvm::SmallDenseSet<NodeId, 8> seen = {node};
  for (size_t i = 0; i < nearest.size(); ++i) {
    for (const Use& use : graph_.node(nearest[i]).uses()) {
      if (nearest.size() == kMostVisited) return node;
      if (!seen.insert(use.node).second) continue;
      if (NodeId shown = ShownFor(use.node); shown != kNoNode) return shown;
      nearest.push_back(use.node);
    }
  }
  return node;
}

std::vector<BodyScopes::NodeInput> BodyScopes::EdgesBetween(const ScopeEntity& from,
                                                            const ScopeEntity& to, bool control,
                                                            size_t most, size_t* count) const {
  std::vector<NodeInput> found;
  *count = 0;
  for (Node node : graph_.nodes()) {
    NodeId into = ShownFor(node.id());
    if (into == kNoNode || !Holds(to, into)) continue;
    int slot = -1;
    for (Port port : node.inputs()) {
      ++slot;
      NodeId out = port.node == kNoNode ? kNoNode : ShownFor(port.node);
      bool is_other = out == kNoNode || port.IsControl() != control || !Holds(from, out);
      bool is_inside = out == into && port.node != node.id();  // of a folded node and its reader
      if (is_other || is_inside) continue;
      if (found.size() < most) found.push_back({node.id(), slot});
      ++*count;
    }
  }
  return found;
}

class BodyScopes::Viewer {
 public:
  Viewer(const BodyScopes& body, ScopeId scope) : body_(body), tree_(*body.tree_), scope_(scope) {
    for (ScopeId id = scope; id != kNoScope; id = tree_.scope(id).parent) above_.push_back(id);
  }

  ScopeView Run() && {
    ListEntities();
    for (size_t i = 0; i < view_.entities.size(); ++i) AddEdgesOf(static_cast<uint32_t>(i));
    LimitPorts(&sources_, &view_.sources);
    LimitPorts(&sinks_, &view_.sinks);
    Finish();
    FoldControl();
    return std::move(view_);
  }

 private:
  // One end of a bundle of edges, before ports have final numbers: an entity of this scope (kHere),
  // or a port where edges enter (kSource) or leave the scope (kSink).
  enum Side : uint8_t { kHere, kSource, kSink };
  struct End {
    Side side;
    uint32_t index;
    bool operator<(const End& other) const {
      return std::tie(side, index) < std::tie(other.side, other.index);
    }
  };
  struct Bundle {
    uint32_t count = 0;
    ControlEnds ends;
    bool back = true, handles = true, mixed = false;
    Port last;
    std::string label;
  };
  struct Ports {
    std::map<std::pair<ScopeId, NodeId>, uint32_t> index;
    std::vector<ScopeEntity> far;
    std::vector<uint64_t> weight;
    std::vector<uint32_t> number;  // position in the view's list of ports, from LimitPorts
  };

  ScopeEntity EntityOf(ScopeId child) const {
    const Scope& scope = tree_.scope(child);
    return {child, scope.num_shown == 1 ? tree_.Ops(scope.core)[0] : kNoNode};
  }

  void ListEntities() {
    const Scope& scope = tree_.scope(scope_);
    slot_.assign(scope.num_children, ~uint32_t{0});
    for (uint32_t i = 0; i < scope.num_children; ++i) {
      if (tree_.scope(scope.first_child + i).num_shown == 0) continue;
      slot_[i] = static_cast<uint32_t>(view_.entities.size());
      view_.entities.push_back(EntityOf(scope.first_child + i));
    }
    for (NodeId op : tree_.Ops(scope_)) {
      op_slot_[op] = static_cast<uint32_t>(view_.entities.size());
      view_.entities.push_back({kNoScope, op});
    }
  }

  // Returns the child of `scope` that contains the node; `scope` itself if no child does.
  ScopeId ChildWith(ScopeId scope, NodeId node) const {
    ScopeId inner = tree_.ScopeOf(node);
    if (inner == scope) return scope;
    const Scope& outer = tree_.scope(scope);
    auto children = llvm::seq<ScopeId>(outer.first_child, outer.first_child + outer.num_children);
    auto after = std::upper_bound(
        children.begin(), children.end(), body_.enter_[inner],
        [&](uint32_t enter, ScopeId child) { return enter < body_.enter_[child]; });
    return *std::prev(after);
  }

  uint32_t SlotOf(NodeId node) const {
    ScopeId child = ChildWith(scope_, node);
    if (child == scope_) return op_slot_.lookup(node);
    return slot_[child - tree_.scope(scope_).first_child];
  }

  // Returns the entity that stands for a node outside of this scope. Of the enclosing scopes, takes
  // the innermost one that contains the node, and returns its member that is the node or contains
  // it.
  ScopeEntity Far(NodeId node) const {
    auto holds = std::partition_point(above_.begin(), above_.end(),
                                      [&](ScopeId id) { return !body_.Holds(id, node); });
    ScopeId child = ChildWith(*holds, node);
    return child == *holds ? ScopeEntity{kNoScope, node} : EntityOf(child);
  }

  End PortFor(NodeId node, Side side) {
    Ports& ports = side == kSource ? sources_ : sinks_;
    ScopeEntity far = Far(node);
    std::pair<ScopeId, NodeId> key{far.scope, far.scope == kNoScope ? far.node : 0};
    auto [it, fresh] = ports.index.try_emplace(key, static_cast<uint32_t>(ports.far.size()));
    if (fresh) {
      ports.far.push_back(far);
      ports.weight.push_back(0);
    }
    ++ports.weight[it->second];
    return {side, it->second};
  }

  template <typename Visit>
  void ForEachNode(const ScopeEntity& entity, Visit&& visit) const {
    if (entity.scope == kNoScope) return visit(entity.node);
    llvm::SmallVector<ScopeId, 8> stack = {entity.scope};
    while (!stack.empty()) {
      const Scope& scope = tree_.scope(stack.back());
      for (NodeId op : tree_.Ops(stack.pop_back_val())) visit(op);
      for (uint32_t i = scope.num_children; i-- > 0;) stack.push_back(scope.first_child + i);
    }
  }

  void AddEdgesOf(uint32_t here) {
    const ScopeEntity entity = view_.entities[here];
    ForEachNode(entity, [&](NodeId node) {
      for (uint32_t i = body_.in_begin_[node]; i < body_.in_begin_[node + 1]; ++i) {
        const Edge& edge = body_.edges_[i];
        End from = body_.Holds(scope_, edge.from) ? End{kHere, SlotOf(edge.from)}
                                                  : PortFor(edge.from, kSource);
        bool self = from.side == kHere && from.index == here;
        // The edge runs within the closed entity, so it is not drawn. (An op's edge to itself is
        // drawn.)
        if (self && (entity.scope != kNoScope || edge.from != edge.to)) continue;
        Add(from, {kHere, here}, edge);
      }
      for (uint32_t i = body_.out_begin_[node]; i < body_.out_begin_[node + 1]; ++i) {
        const Edge& edge = body_.edges_[body_.out_edges_[i]];
        if (!body_.Holds(scope_, edge.to)) Add({kHere, here}, PortFor(edge.to, kSink), edge);
      }
    });
  }

  void Add(End from, End to, const Edge& edge) {
    bool control = edge.port.IsControl();
    Bundle& bundle = bundles_[{from, to, control}];
    bool first = bundle.count++ == 0;
    if (control) bundle.ends.Add(edge.from, edge.to);
    bundle.back &= !control && IsNextIteration(body_.graph_.node(edge.port.node));
    bundle.handles &= !control && IsHandleType(body_.shapes_.TypeOf(edge.port));
    if (control || bundle.mixed || (!first && bundle.last == edge.port)) return;
    bundle.last = edge.port;
    std::string text = TensorText(body_.shapes_.TypeOf(edge.port), body_.shapes_.OfPort(edge.port));
    bundle.label = first ? text : CommonLabel(bundle.label, text);
    bundle.mixed = bundle.label.empty();
  }

  // If there are too many ports, only those with the most edges stay separate; one "rest" port
  // stands for all others.
  static void LimitPorts(Ports* ports, std::vector<ScopePort>* out) {
    size_t count = ports->far.size();
    std::vector<uint32_t> order(count);
    for (uint32_t i = 0; i < count; ++i) order[i] = i;
    bool rest = count > kMaxPorts;
    if (rest) {
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return ports->weight[a] > ports->weight[b]; });
      std::sort(order.begin(), order.begin() + kMaxPorts - 1);
    }
    ports->number.assign(count, kMaxPorts - 1);
    for (size_t i = 0; i < (rest ? kMaxPorts - 1 : count); ++i) {
      ports->number[order[i]] = static_cast<uint32_t>(i);
      out->push_back({false, ports->far[order[i]]});
    }
    if (rest) out->push_back({true, {}});
  }

  uint32_t ItemOf(End end) const {
    uint32_t first = static_cast<uint32_t>(view_.entities.size());
    if (end.side == kHere) return end.index;
    if (end.side == kSource) return first + sources_.number[end.index];
    return first + static_cast<uint32_t>(view_.sources.size()) + sinks_.number[end.index];
  }

  void Finish() {
    std::map<std::tuple<uint32_t, uint32_t, bool>, EdgeBundle> edges;
    for (auto& [key, bundle] : bundles_) {
      auto [from_end, to_end, control] = key;
      uint32_t from = ItemOf(from_end), to = ItemOf(to_end);
      uint32_t producers = bundle.ends.producers.size(), waiters = bundle.ends.waiters.size();
      auto [it, fresh] = edges.try_emplace(
          {from, to, control}, EdgeBundle{from, to, control, bundle.count, producers, waiters,
                                          bundle.back, bundle.handles, bundle.label});
      if (fresh) continue;
      it->second.count += bundle.count;  // the bundles share the rest port
      it->second.producers += producers;
      it->second.waiters += waiters;
      it->second.back &= bundle.back;
      it->second.handles &= bundle.handles;
      it->second.label = CommonLabel(it->second.label, bundle.label);
    }
    for (auto& [key, edge] : edges) view_.edges.push_back(std::move(edge));
  }

  void FoldControl() {
    size_t count = view_.entities.size();
    view_.unseen_control.resize(count);
    std::vector<size_t> in(view_.num_items(), 0), out(view_.num_items(), 0);
    auto is_in = [&](const EdgeBundle& edge) {
      return edge.control && edge.to < count && in[edge.to] > kControlFan;
    };
    auto is_out = [&](const EdgeBundle& edge) {
      return edge.control && edge.from < count && out[edge.from] > kControlFan;
    };
    for (const EdgeBundle& edge : view_.edges) in[edge.to] += edge.control;
    for (const EdgeBundle& edge : view_.edges) out[edge.from] += edge.control && !is_in(edge);
    std::erase_if(view_.edges, [&](const EdgeBundle& edge) {
      if (is_in(edge)) view_.unseen_control[edge.to].in += edge.producers;
      if (is_out(edge)) view_.unseen_control[edge.from].out += edge.waiters;
      return is_in(edge) || is_out(edge);
    });
  }

  const BodyScopes& body_;
  const ScopeTree& tree_;
  ScopeId scope_;
  std::vector<ScopeId> above_;  // this scope, then all enclosing scopes
  std::vector<uint32_t> slot_;  // by child: index of its entity
  llvm::DenseMap<NodeId, uint32_t> op_slot_;
  Ports sources_, sinks_;
  std::map<std::tuple<End, End, bool>, Bundle> bundles_;
  ScopeView view_;
};

ScopeView BodyScopes::View(ScopeId scope) const { return Viewer(*this, scope).Run(); }

const ScopeCosts& BodyScopes::costs() const {
  std::call_once(costs_once_, [this] { costs_.emplace(graph_, *tree_, cost_shapes_, signature_); });
  return *costs_;
}

}  // namespace grapnel
