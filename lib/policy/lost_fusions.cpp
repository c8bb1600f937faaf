#include "lib/policy/lost_fusions.h"

#include <map>
#include <set>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/job/missed_optimizations.h"
#include "lib/pass/near_misses.h"
#include "lib/policy/layer_names.h"
#include "lib/policy/node_origin.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// A rewrite that made one node from several.
struct FusionRewrite {
  std::string rule, anchor;
  std::set<std::string> used;  // including the anchor
  bool operator==(const FusionRewrite& other) const {
    return rule == other.rule && anchor == other.anchor && used == other.used;
  }
};

struct OptimizedSide {
  std::vector<FusionRewrite> fusions;  // a function that is called twice counts once
  std::set<std::string> composed;      // fused with their neighbors into chains of elementwise ops
  MissedOptimizations undone;
};

Expected<OptimizedSide> OptimizeSide(const OpenedGraph& graph, OneDnn onednn, ThreadPool* pool) {
  OptimizedSide side;
  auto name_of = [&](llvm::StringRef function, llvm::StringRef node) {
    return NameOfOrigin(graph.module(), function, node);
  };
  OptimizeRequest request;
  request.options.pool = pool;
  request.onednn = onednn;
  request.on_rewrite = [&](const Rewrite& rewrite) {
    if (rewrite.rule == "compose_unary_ops") {
      for (const std::string& node : rewrite.used)
        side.composed.insert(name_of(rewrite.function, node));
    }
    if (!HasPrefix(rewrite.rule, "fuse_")) return;
    FusionRewrite fusion{rewrite.rule, name_of(rewrite.function, rewrite.node), {}};
    auto take = [&](const std::string& node) {
      fusion.used.insert(name_of(rewrite.function, node));
    };
    llvm::for_each(rewrite.used, take);
    // A rewrite that lists a single used node merges it into the node that `changed` lists.
    if (rewrite.used.size() == 1) llvm::for_each(rewrite.changed, take);
    if (!llvm::is_contained(side.fusions, fusion)) side.fusions.push_back(std::move(fusion));
  };
  OpenedGraph copy = graph.Copy();
  ASSIGN_OR_RETURN(side.undone, FindMissedOptimizations(copy, std::move(request)));
  for (auto* refusals : {&side.undone.refusals, &side.undone.intermediate}) {
    for (Refusal& refusal : *refusals) {
      refusal.node = name_of(refusal.function, refusal.node);
      refusal.function.clear();
    }
  }
  return side;
}

class Comparer {
 public:
  Comparer(const OpenedGraph& base, const OpenedGraph& model, const Diff& changes,
           OptimizedSide before, OptimizedSide now)
      : base_(base.module()),
        model_(model.module()),
        before_(std::move(before)),
        now_(std::move(now)),
        layers_(model_) {
    for (const MatchedPair& pair : changes.matched) {
      in_model_[pair.a.name.str()] = pair.b.name.str();
      if (!pair.changes.empty()) became_[pair.b.name.str()] = ChangeText(pair.changes.front());
    }
    for (const GroupEntry& group : changes.groups) {
      auto head =
          llvm::find_if(group.b, [](const NodeEntry& node) { return node.node.op() != "Const"; });
      const std::string into = (head == group.b.end() ? group.b.begin() : head)->name.str();
      became_[into] = "is made of " + OpsOf(group.b) + ", and was " + OpsOf(group.a);
      for (const NodeEntry& node : group.a) in_model_[node.name.str()] = into;
    }
    for (const NodeEntry& node : changes.removed) gone_.insert(node.name.str());
    for (const NodeEntry& node : changes.added) new_.insert(node.name.str());
  }

  std::vector<LostFusion> Run() {
    std::vector<LostFusion> lost;
    for (const FusionRewrite& fusion : before_.fusions) {
      bool is_split = CountLeft(fusion) > 1 && !IsFusedHere(fusion);
      if (is_split || IsReplaced(fusion)) lost.push_back(Tell(fusion));
    }
    return lost;
  }

 private:
  static std::string ChangeText(const Change& change) {
    auto text = [](const std::string& value) { return value.empty() ? "not there" : value; };
    return change.what + " was " + text(change.before) + " and is " + text(change.after);
  }
  static std::string OpsOf(llvm::ArrayRef<NodeEntry> nodes) {
    std::string text;
    for (const NodeEntry& node : nodes) text += (text.empty() ? "" : " + ") + node.node.op().str();
    return text;
  }
  std::string InModel(const std::string& name) const {
    auto found = in_model_.find(name);
    return found == in_model_.end() ? name : found->second;
  }
  size_t CountLeft(const FusionRewrite& fusion) const {
    return llvm::count_if(fusion.used, [&](const std::string& node) { return !gone_.count(node); });
  }

  // True if compose_unary_ops fused the node into a chain of elementwise ops, and the node reads a
  // node of the fusion.
  bool IsComposed(const std::string& node, const FusionRewrite& other) const {
    return now_.composed.count(InModel(node)) && ReadsAnyOf(InModel(node), other.used);
  }

  bool ReadsAnyOf(const std::string& reader, const std::set<std::string>& nodes) const {
    auto found = FindNode(model_, reader);
    if (!found) {
      llvm::consumeError(found.takeError());
      return false;
    }
    return llvm::any_of(found->inputs(), [&](const Port& port) {
      return port.node != kNoNode && nodes.count(FullNameOf(found->graph().node(port.node)));
    });
  }

  // True if some nodes of the fusion were removed, and new nodes read the remaining ones instead,
  // without being fused with them.
  bool IsReplaced(const FusionRewrite& fusion) const {
    std::set<std::string> left;
    for (const std::string& node : fusion.used)
      if (!gone_.count(node)) left.insert(InModel(node));
    if (left.empty() || left.size() == fusion.used.size()) return false;
    bool is_read = llvm::any_of(new_, [&](const auto& node) { return ReadsAnyOf(node, left); });
    return is_read && llvm::none_of(now_.fusions, [&](const FusionRewrite& other) {
             return llvm::all_of(left, [&](const auto& node) { return other.used.count(node); }) &&
                    llvm::any_of(other.used, [&](const auto& node) { return new_.count(node); });
           });
  }

  // True if a fusion in this model includes all remaining nodes of `fusion`, or if the anchor is
  // already a fused op in this model.
  bool IsFusedHere(const FusionRewrite& fusion) const {
    auto anchor = FindNode(model_, InModel(fusion.anchor));
    if (anchor && HasPrefix(anchor->op(), "_Fused")) return true;
    llvm::consumeError(anchor.takeError());
    return llvm::any_of(now_.fusions, [&](const FusionRewrite& other) {
      return llvm::all_of(fusion.used, [&](const std::string& node) {
        return gone_.count(node) || other.used.count(InModel(node)) || IsComposed(node, other);
      });
    });
  }

  std::string PatternOf(const FusionRewrite& fusion) const {
    std::vector<Node> nodes;
    for (const std::string& name : fusion.used) {
      if (auto node = FindNode(base_, name)) {
        nodes.push_back(*node);
      } else {
        llvm::consumeError(node.takeError());
      }
    }
    if (nodes.size() < 2) return fusion.rule;
    std::string text;
    while (!nodes.empty()) {  // inputs come before their readers
      auto next = llvm::find_if(nodes, [&](const Node& node) {
        return llvm::none_of(nodes, [&](const Node& other) { return Reads(node, other); });
      });
      if (next == nodes.end()) next = nodes.begin();
      text += (text.empty() ? "" : " + ") + next->op().str();
      nodes.erase(next);
    }
    return text;
  }
  static bool Reads(const Node& reader, const Node& node) {
    return llvm::any_of(reader.inputs(), [&](const Port& port) { return port.node == node.id(); });
  }

  // Returns the reason why rules refused these nodes in the model: in the final graph, else in
  // intermediate graphs; refusals by the fusion's rule come first. Without a refusal, returns what
  // the diff says about one of the nodes, else that the rule no longer finds its pattern.
  std::string ReasonOf(const FusionRewrite& fusion) const {
    std::set<std::string> here;
    for (const std::string& node : fusion.used) here.insert(InModel(node));
    for (const auto* refusals : {&now_.undone.refusals, &now_.undone.intermediate}) {
      const Refusal* best = nullptr;
      for (const Refusal& refusal : *refusals) {
        if (!here.count(PlaceOf(refusal))) continue;
        if (!best || (refusal.rule == fusion.rule && best->rule != fusion.rule)) best = &refusal;
      }
      if (best)
        return best->pass + "/" + best->rule + ": " + best->reason + OtherReader(*best, here);
    }
    for (const std::string& node : here) {
      auto became = became_.find(node);
      if (became != became_.end()) return "'" + node + "' " + became->second;
    }
    return "the rule no longer finds its pattern";
  }

  // Returns ", also by 'skip' (AddV2)" if the refusal is about a node with too many readers: the
  // reader that is not part of the fusion.
  std::string OtherReader(const Refusal& refusal, const std::set<std::string>& here) const {
    if (!llvm::StringRef(refusal.reason).contains(" is read ")) return "";
    for (const std::string& name : here) {
      auto node = FindNode(model_, name);
      if (!node) {
        llvm::consumeError(node.takeError());
        continue;
      }
      Node other;
      bool is_inner = false;
      for (const Use& use : node->uses()) {
        Node reader = node->graph().node(use.node);
        if (use.slot >= static_cast<uint32_t>(reader.num_inputs())) continue;
        bool is_here = here.count(FullNameOf(reader)) != 0;
        is_inner |= is_here;
        if (!is_here) other = reader;
      }
      if (is_inner && other) return Sentence(", also by '{0}' ({1})", other.name(), other.op());
    }
    return "";
  }

  LostFusion Tell(const FusionRewrite& fusion) const {
    std::string name = InModel(fusion.anchor);
    for (const std::string& node : fusion.used) {
      if (gone_.count(fusion.anchor) && !gone_.count(node)) name = InModel(node);
    }
    std::string layer;
    if (auto node = FindNode(model_, name))
      layer = layers_.Of(*node);
    else
      llvm::consumeError(node.takeError());
    return {name, layer, fusion.rule, PatternOf(fusion), ReasonOf(fusion)};
  }

  const Module &base_, &model_;
  const OptimizedSide before_, now_;
  const LayerNames layers_;
  std::map<std::string, std::string> in_model_;
  std::map<std::string, std::string> became_;  // by the model's node: the change in the diff
  std::set<std::string> gone_, new_;           // nodes only in the base; nodes only in the model
};

}  // namespace

Expected<std::vector<LostFusion>> FindLostFusions(const OpenedGraph& base, const OpenedGraph& model,
                                                  const Diff& changes, OneDnn onednn,
                                                  ThreadPool* pool) {
  ASSIGN_OR_RETURN(OptimizedSide before, OptimizeSide(base, onednn, pool));
  ASSIGN_OR_RETURN(OptimizedSide now, OptimizeSide(model, onednn, pool));
  return Comparer(base, model, changes, std::move(before), std::move(now)).Run();
}

}  // namespace grapnel
