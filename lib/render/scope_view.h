// The contents of the scopes of one body, one scope at a time: the page requests a scope when the
// user opens its box.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_VIEW_H_
#define GRAPNEL_LIB_RENDER_SCOPE_VIEW_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/costs.h"
#include "lib/render/edges.h"
#include "lib/render/scope_tree.h"
#include "lib/render/selection.h"
#include "lib/shape/inference.h"

namespace grapnel {

// The largest number of ports on one side of a scope; if there would be more, those with the fewest
// edges become one port.
constexpr size_t kMaxPorts = 12;

// A member of a scope: a child scope, or an op. A child scope that shows a single op is drawn as
// that op, but keeps its own key.
struct ScopeEntity {
  ScopeId scope = kNoScope;  // the direct child of the scope; kNoScope for an op
  NodeId node = kNoNode;     // the op, or the only shown op of the child scope
  bool operator==(const ScopeEntity& other) const {
    return scope == other.scope && (scope != kNoScope || node == other.node);
  }
  // The entity's key, "s12" for a scope or "n45" for an op, unique in the body.
  std::string Key() const;
};

// The point at which edges enter a scope (source) or leave it (sink): one port for each entity at
// the other end. That entity is a direct member of the innermost scope that contains both ends of
// the edge. So an edge in that scope, and the ports of all scopes inside that the edge passes,
// refer to the same two entities.
struct ScopePort {
  bool rest = false;  // stands for several ports, of too many; `far` is not set
  ScopeEntity far;
};

// The contents of one open scope. Edges run between items: entities first, then sources, then
// sinks.
struct ScopeView {
  std::vector<ScopeEntity> entities;
  std::vector<ScopePort> sources, sinks;
  std::vector<EdgeBundle> edges;
  // By entity: the numbers of ops that it waits for, and that wait for it, by control edges that are
  // not drawn because they are too many.
  struct Unseen {
    uint64_t in = 0, out = 0;
  };
  std::vector<Unseen> unseen_control;
  size_t num_items() const { return entities.size() + sources.size() + sinks.size(); }
};

class BodyScopes {
 public:
  // `layers` may be null. `cost_shapes`: the shapes that determine costs()'s FLOPs, perhaps with a
  // batch size that `shapes` lacks; null: `shapes`. All arguments but `fold` must outlive this
  // object, and so must `fold.signature`. Takes n log n time in nodes and edges.
  BodyScopes(const Graph& graph, const FoldOptions& fold, const ShapeMap& shapes,
             const BoxLayers* layers = nullptr, const ShapeMap* cost_shapes = nullptr);

  const Graph& graph() const { return graph_; }
  const ScopeTree& tree() const { return *tree_; }
  const Folding& folding() const { return folding_; }
  const ShapeMap& shapes() const { return shapes_; }

  // Computed on first use. Thread-safe.
  const ScopeCosts& costs() const;

  // Computes the view of a scope, which must be a core (see Scope::core). Visits all nodes and
  // edges in the scope.
  ScopeView View(ScopeId scope) const;
  // The numbers of inputs that are not drawn: those with a folded node at an end, and dangling
  // inputs.
  uint64_t num_folded_inputs() const { return num_folded_; }
  uint64_t num_dangling_inputs() const { return num_dangling_; }
  // The number of inputs that are drawn in some scope, or counted there as unseen control edges.
  uint64_t num_drawn_inputs() const { return edges_.size(); }

  // The nodes in a scope at any depth, including folded ones, in the graph's order. Linear in the
  // graph.
  std::vector<NodeId> NodesIn(ScopeId scope) const;

  // True if the scope has a frame when it is open: a core (see Scope::core) with several shown
  // nodes, or the core of the root.
  bool IsFrame(ScopeId id) const {
    const Scope& scope = tree_->scope(id);
    if (id == kRootScope || id == tree_->scope(kRootScope).core) return scope.core == id;
    return scope.core == id && scope.num_shown > 1;  // with one node, it is drawn as that op
  }
  // The scopes that must be open to show a node, from the outermost to the innermost. Lists only
  // scopes that have frames.
  std::vector<ScopeId> Around(NodeId node) const;

  // A data or control edge of the graph: an input of a node.
  struct NodeInput {
    NodeId node = kNoNode;
    int slot = 0;
  };
  // Returns the inputs that the edges between two entities of this body stand for, in the order of
  // the nodes, at most `most`; `count` is the number of all. An entity may be one of a port
  // (ScopePort::far). Linear in the edges.
  std::vector<NodeInput> EdgesBetween(const ScopeEntity& from, const ScopeEntity& to, bool control,
                                      size_t most, size_t* count) const;

  // The node whose box shows this node: for a folded node, its nearest reader that is shown. The
  // node itself if it has no such reader among the nearest thousand.
  NodeId HomeOf(NodeId node) const;

 private:
  struct Edge {
    NodeId from, to;  // shown nodes; instead of a folded node with Folding::waits, that
    Port port;
  };
  class Viewer;

  void ListEdges();
  void NumberScopes();
  // The node itself if it has a box; Folding::waits of a folded node that has one; else kNoNode.
  NodeId ShownFor(NodeId node) const {
    if (folding_.waits[node] != kNoNode) return folding_.waits[node];
    return folding_.uses[node] == NodeUse::kShown ? node : kNoNode;
  }
  bool Holds(const ScopeEntity& entity, NodeId shown) const {
    return entity.scope == kNoScope ? entity.node == shown : Holds(entity.scope, shown);
  }
  bool Holds(ScopeId scope, NodeId node) const {
    ScopeId inner = tree_->ScopeOf(node);
    return enter_[scope] <= enter_[inner] && enter_[inner] < leave_[scope];
  }

  const Graph& graph_;
  Folding folding_;
  std::unique_ptr<ScopeTree> tree_;
  const ShapeMap& shapes_;
  const ShapeMap& cost_shapes_;
  const SignatureBody* signature_;
  std::vector<Edge> edges_;  // sorted by `to`
  std::vector<uint32_t> in_begin_, out_begin_, out_edges_;
  // By scope: its preorder number, and the number after the last scope in it. Comparing them tells
  // whether one scope contains another.
  std::vector<uint32_t> enter_, leave_;
  uint64_t num_folded_ = 0, num_dangling_ = 0;
  mutable std::once_flag costs_once_;
  mutable std::optional<ScopeCosts> costs_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_VIEW_H_
