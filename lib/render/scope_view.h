// The scopes of one body, opened one at a time: what a page asks for when a reader opens a box.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_VIEW_H_
#define GRAPNEL_LIB_RENDER_SCOPE_VIEW_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/costs.h"
#include "lib/render/edges.h"
#include "lib/render/layering.h"
#include "lib/render/scope_tree.h"
#include "lib/render/selection.h"
#include "lib/shape/inference.h"

namespace grapnel {

// A child of a scope: a scope below it, or an op. A scope that shows a single op is drawn as that
// op, and keeps its own key.
struct ScopeEntity {
  ScopeId scope = kNoScope;  // the direct child; kNoScope: an op
  NodeId node = kNoNode;     // the op, or the only one of the scope
  bool operator==(const ScopeEntity& other) const {
    return scope == other.scope && (scope != kNoScope || node == other.node);
  }
  // "s12" or "n45": unique in the body.
  std::string Key() const;
};

// Where edges enter a scope (source) or leave it (sink): one for each entity at their other end.
// That one lies in the innermost scope that holds both ends, so the edge between two boxes there
// and the ports of all scopes on the way down name the same two entities.
struct ScopePort {
  bool rest = false;  // what is left of too many: `far` says nothing
  ScopeEntity far;
};

// What one opened scope shows. Edges run between items: entities first, then sources, then sinks.
struct ScopeView {
  std::vector<ScopeEntity> entities;
  std::vector<ScopePort> sources, sinks;
  std::vector<EdgeBundle> edges;
  // By entity: control edges that are said in words, for there are too many to draw.
  struct Unseen {
    uint64_t in = 0, out = 0;
  };
  std::vector<Unseen> unseen_control;
  size_t num_items() const { return entities.size() + sources.size() + sinks.size(); }
};

// A view whose items have their places in layers. Ports are in the order in which the edges to
// them come along in the scope around.
struct LaidOutScope {
  ScopeView view;
  Layering layering;
};

class BodyScopes {
 public:
  // The graph and its shapes are borrowed. Linear in the graph.
  BodyScopes(const Graph& graph, const FoldOptions& fold, const ShapeMap& shapes);

  const Graph& graph() const { return graph_; }
  const ScopeTree& tree() const { return *tree_; }
  const Folding& folding() const { return folding_; }
  const ShapeMap& shapes() const { return shapes_; }

  // Worked out when first asked for. Safe to call from several threads.
  const ScopeCosts& costs() const;

  // `scope` is the core of a scope. Costs what lies below it and reaches into it, and as much for
  // each scope around it that was not asked for before. Safe to call from several threads.
  const LaidOutScope& LayOut(ScopeId scope) const;
  // Inputs of shown nodes that come from folded ones, or go into them; and from nowhere.
  uint64_t num_folded_inputs() const { return num_folded_; }
  uint64_t num_dangling_inputs() const { return num_dangling_; }
  // Drawn somewhere, in one scope or another.
  uint64_t num_drawn_inputs() const { return edges_.size(); }

  // The nodes that lie in a scope at any depth, folded ones too, in the graph's order. Linear in
  // the graph.
  std::vector<NodeId> NodesIn(ScopeId scope) const;

  // Scopes around a node from the outermost to the innermost, cores only: what must be open for it
  // to be seen.
  std::vector<ScopeId> Around(NodeId node) const;

 private:
  struct Edge {
    NodeId from, to;  // shown nodes; a folded NoOp is where the node is that waits for it
    Port port;
  };
  class Viewer;

  ScopeView View(ScopeId scope) const;
  void SortPorts(ScopeId scope, ScopeView* view) const;
  void ListEdges();
  void NumberScopes();
  bool Holds(ScopeId scope, NodeId node) const {
    ScopeId inner = tree_->ScopeOf(node);
    return enter_[scope] <= enter_[inner] && enter_[inner] < leave_[scope];
  }

  const Graph& graph_;
  Folding folding_;
  std::unique_ptr<ScopeTree> tree_;
  const ShapeMap& shapes_;
  std::vector<Edge> edges_;  // by the node they enter
  std::vector<uint32_t> in_begin_, out_begin_, out_edges_;
  std::vector<uint32_t> enter_, leave_;  // of scopes, in preorder
  uint64_t num_folded_ = 0, num_dangling_ = 0;
  mutable std::once_flag costs_once_;
  mutable std::optional<ScopeCosts> costs_;
  mutable std::mutex mutex_;
  mutable std::map<ScopeId, std::unique_ptr<LaidOutScope>> laid_out_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_VIEW_H_
