#include "lib/render/boxes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "lib/ir/device_name.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/loop_variables.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// The boxes of a scope's nodes: the box of a closed scope that stands for all of them, or else the
// cluster in which they have their own boxes.
struct ScopeState {
  ScopeId closed_by = kNoScope;  // this closed scope's box or, with `rest`, its rest box
  bool rest = false;
  int cluster = -1;
};

class BoxMaker {
 public:
  BoxMaker(const BodyPlan& plan, Picture* picture)
      : plan_(plan), tree_(*plan.tree), graph_(*plan.graph), picture_(*picture) {
    if (plan.function) prefix_ = plan.function->name().str() + "/";
    ends_ = PrefixOfEnds(graph_);
    variables_.emplace(graph_, plan.loop);
  }

  BodyBoxes Run() && {
    BodyBoxes result;
    result.plan = &plan_;
    if (plan_.function && !plan_.is_entry) result.cluster = AddFunctionCluster();
    VisitScopes(result.cluster);
    result.box_of.assign(graph_.end_id(), kBoxOutside);
    for (Node node : graph_.nodes()) {
      switch (plan_.folding.uses[node.id()]) {
        case NodeUse::kOutside:
          break;
        case NodeUse::kFolded:
          result.box_of[node.id()] = kBoxFolded;
          break;
        case NodeUse::kShown:
          result.box_of[node.id()] = BoxFor(node);
          break;
      }
    }
    for (Node node : graph_.nodes()) {  // a folded NoOp is in the box of the node that waits for it
      NodeId waits = plan_.folding.waits[node.id()];
      if (waits != kNoNode) result.box_of[node.id()] = result.box_of[waits];
    }
    return result;
  }

 private:
  int AddFunctionCluster() {
    Cluster cluster;
    std::string name = Printable(plan_.function->name());
    cluster.id = "function " + name;
    cluster.title = name;
    cluster.tooltip = "function " + name + ", " + Plural(graph_.num_nodes(), "op");
    cluster.function = true;
    return AddCluster(std::move(cluster), kRootScope);
  }

  int AddCluster(Cluster cluster, ScopeId scope) {
    int index = static_cast<int>(picture_.clusters.size());
    picture_.clusters.push_back(std::move(cluster));
    scopes_[index] = scope;
    return index;
  }

  void VisitScopes(int body_cluster) {
    states_.resize(tree_.size());
    states_[kRootScope].cluster = body_cluster;
    for (ScopeId id = 0; id < tree_.size(); ++id) {
      const Scope& scope = tree_.scope(id);
      ScopeState& state = states_[id];
      if (id != kRootScope) {
        state = states_[scope.parent];
        if (state.closed_by != kNoScope) continue;
        if (plan_.rest_scopes.count(id)) {
          state.closed_by = scope.parent;
          state.rest = true;
          continue;
        }
      }
      if (scope.num_shown <= 1 || scope.core != id) continue;
      if (!plan_.open[id]) {
        state.closed_by = id;
      } else if (id != kRootScope && !tree_.HoldsGroups(id)) {
        // A group of groups gets no frame of its own: the groups in it have frames.
        state.cluster = AddScopeCluster(id, state.cluster);
      }
    }
  }

  int AddScopeCluster(ScopeId id, int parent) {
    Cluster cluster;
    std::string path = Printable(tree_.PathText(id));
    cluster.id = prefix_ + path + "/";
    cluster.title = Titled(id, parent);
    cluster.name = tree_.scope(id).layer_class.str();
    cluster.layer = tree_.scope(id).layer.str();
    cluster.tooltip = prefix_ + path + ", " + Plural(tree_.scope(id).num_shown, "op");
    cluster.parent = parent;
    cluster.made_up = tree_.IsMadeUp(id);
    cluster.kept = tree_.scope(id).kept;
    return AddCluster(std::move(cluster), id);
  }

  // Removes `base` from the beginning of `path`: "a/b/c" in "a/b" is "c".
  static std::string Relative(llvm::StringRef path, llvm::StringRef base) {
    llvm::StringRef rest = path;
    if (!base.empty() && rest.consume_front(base) && rest.consume_front("/") && !rest.empty())
      return Printable(rest);
    if (path == base) return Printable(path.substr(path.rfind('/') + 1));
    return Printable(path);
  }

  ScopeId ScopeOf(int cluster) const {
    auto scope = scopes_.find(cluster);
    return scope == scopes_.end() ? kRootScope : scope->second;
  }

  std::string Named(const Node& node, int cluster) const {
    return Relative(node.name(), tree_.BaseOf(ScopeOf(cluster)));
  }

  // Returns the title of a scope in a cluster: a layer's without the layer around it.
  std::string Titled(ScopeId scope, int cluster) const {
    ScopeId around = ScopeOf(cluster);
    bool is_layer = !tree_.scope(scope).layer.empty();
    return Relative(tree_.TitleText(scope),
                    is_layer ? tree_.LayerAround(around) : tree_.BaseOf(around));
  }

  // Returns the outermost layer whose only shown node this is; kNoScope if there is none.
  ScopeId LayerOfOne(const Node& node) const {
    ScopeId found = kNoScope;
    for (ScopeId id = tree_.ScopeOf(node.id()); id != kRootScope && tree_.scope(id).num_shown == 1;
         id = tree_.scope(id).parent) {
      if (!tree_.scope(id).layer.empty()) found = id;
    }
    return found;
  }

  uint32_t BoxFor(const Node& node) {
    ScopeId scope = tree_.ScopeOf(node.id());
    const ScopeState& state = states_[scope];
    if (state.closed_by != kNoScope) return SharedBox(state.closed_by, state.rest);
    if (plan_.rest_ops.count(node.id())) return SharedBox(scope, true);
    Box box;
    box.cluster = state.cluster;
    box.node = node.id();
    box.id = prefix_ + Printable(node.name());
    box.title = Printable(node.op());
    box.name = Named(node, state.cluster);
    if (ScopeId layer = LayerOfOne(node); layer != kNoScope) {
      box.name = std::exchange(box.title, Titled(layer, state.cluster));
      box.layer = tree_.scope(layer).layer.str();
    }
    box.tooltip = box.id;
    if (!node.device().empty()) box.tooltip += " on " + Printable(ShortDevice(node.device()));
    if (IsArgument(node) || IsResult(node)) {
      box.name = variables_->Of(node);
      if (box.name.empty()) box.name = Printable(NameOfEnd(node.name(), ends_));
    }
    if (IsArgument(node)) box.title = "arg " + std::to_string(node.GetInt("index"));
    if (IsResult(node)) box.title = "result " + std::to_string(node.GetInt("index"));
    return Add(std::move(box));
  }

  uint32_t SharedBox(ScopeId scope, bool rest) {
    auto [it, fresh] = shared_[rest].try_emplace(scope, 0);
    if (!fresh) {
      ++picture_.boxes[it->second].num_ops;
      return it->second;
    }
    Box box;
    std::string path = Printable(tree_.PathText(scope));
    if (rest) {
      box.kind = BoxKind::kRest;
      box.cluster = states_[scope].cluster;
      box.id = prefix_ + path + (path.empty() ? "..." : "/...");
      box.title = "...";
      box.tooltip =
          "what --max-boxes leaves out of " + (path.empty() ? "the top level" : prefix_ + path);
    } else {
      box.kind = BoxKind::kScope;
      box.scope = scope;
      box.cluster = states_[scope].cluster;
      box.id = prefix_ + path + "/";
      box.title = Titled(scope, box.cluster);
      box.name = tree_.scope(scope).layer_class.str();
      box.layer = tree_.scope(scope).layer.str();
      box.tooltip = prefix_ + path + ", " + Plural(tree_.scope(scope).num_shown, "op") +
                    " (--scope " + path + " opens it)";
      box.made_up = tree_.IsMadeUp(scope);
      box.kept = tree_.scope(scope).kept;
    }
    return it->second = Add(std::move(box));
  }

  uint32_t Add(Box box) {
    box.graph = &graph_;
    box.num_ops = 1;
    picture_.boxes.push_back(std::move(box));
    return static_cast<uint32_t>(picture_.boxes.size() - 1);
  }

  const BodyPlan& plan_;
  const ScopeTree& tree_;
  const Graph& graph_;
  Picture& picture_;
  std::string prefix_, ends_;  // of full names; of names of arguments and results
  std::optional<LoopVariables> variables_;
  std::vector<ScopeState> states_;
  llvm::DenseMap<int, ScopeId> scopes_;          // by cluster
  llvm::DenseMap<ScopeId, uint32_t> shared_[2];  // boxes of [0] closed scopes, [1] rests
};

// Returns the part of the closed `scope` that contains the node. In a series: the member of the
// series, a scope or (true) the node itself. In any other scope: the whole scope.
std::pair<bool, uint32_t> EqualOf(const ScopeTree& tree, ScopeId scope, NodeId node) {
  const Scope& box = tree.scope(scope);
  if (!box.series && !box.slice) return {false, scope};
  ScopeId below = kNoScope;
  for (ScopeId id = tree.ScopeOf(node); id != scope; id = tree.scope(id).parent) {
    if (!tree.scope(id).slice) below = id;
  }
  return below == kNoScope ? std::make_pair(true, node) : std::make_pair(false, below);
}

}  // namespace

void ListNodes(const BodyBoxes& body, Picture* picture) {
  const ScopeTree& tree = *body.plan->tree;
  std::map<std::tuple<uint32_t, bool, uint32_t>, size_t> index;
  for (Node node : body.plan->graph->nodes()) {
    uint32_t number = body.box_of[node.id()];
    if (number >= kBoxFolded || body.plan->folding.uses[node.id()] != NodeUse::kShown) continue;
    Box& box = picture->boxes[number];
    std::pair<bool, uint32_t> equal = {false, 0};
    if (box.kind == BoxKind::kScope) equal = EqualOf(tree, box.scope, node.id());
    if (box.repeat > 1) equal = {true, node.id()};
    auto [it, fresh] = index.try_emplace({number, equal.first, equal.second}, box.parts.size());
    if (fresh) box.parts.emplace_back();
    box.parts[it->second].push_back(node.id());
  }
}

BodyBoxes AddBoxes(const BodyPlan& plan, Picture* picture) { return BoxMaker(plan, picture).Run(); }

void AddNotes(const BodyBoxes& body, const ViewOptions& options, const ShapeMap* shapes,
              Picture* picture) {
  const Graph& graph = *body.plan->graph;
  const std::vector<NodeUse>& uses = body.plan->folding.uses;
  std::map<uint32_t, std::map<StringId, size_t>> kinds;
  for (Node node : graph.nodes()) {
    uint32_t index = body.box_of[node.id()];
    if (index >= kBoxFolded || uses[node.id()] != NodeUse::kShown) continue;
    Box& box = picture->boxes[index];
    if (box.kind != BoxKind::kOp) {
      ++kinds[index][node.op_id()];
    } else if (!options.hide_constants) {
      box.notes = ConstantNotes(node, uses, shapes, options.entry, options.layers);
    }
  }
  for (auto& [index, ops] : kinds) {
    Box& box = picture->boxes[index];
    box.notes.push_back(Plural(box.num_ops, "op"));
    if (box.kind == BoxKind::kRest) {
      box.title = "and " + Plural(box.num_ops, "more op");
      box.notes.clear();
    }
    box.notes.push_back(KindsText(graph, ops));
  }
  for (Node node : graph.nodes()) {
    if (body.plan->folding.waits[node.id()] == kNoNode || node.op() != "NoOp") continue;
    Box& box = picture->boxes[body.box_of[node.id()]];
    if (box.kind != BoxKind::kOp) continue;
    box.notes.push_back(node.name() == "NoOp" ? "via NoOp" : "via NoOp " + Printable(node.name()));
  }
}

}  // namespace grapnel
