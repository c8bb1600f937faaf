#include "lib/job/policy/lost_fusions.h"

#include <map>
#include <set>

#include "lib/ir/find.h"
#include "lib/job/left_undone.h"
#include "lib/pass/near_misses.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::string Placed(llvm::StringRef function, llvm::StringRef node) {
  return function.empty() ? node.str() : (function + "/" + node).str();
}

// A rewrite that made one node of several, by names of the graph as it was given or inlined.
struct FusionRewrite {
  std::string rule, anchor;
  std::set<std::string> used;  // the anchor among them
};

struct OptimizedSide {
  std::vector<FusionRewrite> fusions;
  LeftUndone undone;
};

Expected<OptimizedSide> OptimizeSide(const OpenedGraph& graph, ThreadPool* pool) {
  OptimizedSide side;
  OptimizeRequest request;
  request.pool = pool;
  request.on_rewrite = [&](const Rewrite& rewrite) {
    if (!HasPrefix(rewrite.rule, "fuse_")) return;
    FusionRewrite fusion{rewrite.rule, Placed(rewrite.function, rewrite.node), {}};
    for (const std::string& node : rewrite.used) fusion.used.insert(Placed(rewrite.function, node));
    side.fusions.push_back(std::move(fusion));
  };
  OpenedGraph copy = graph.Copy();
  ASSIGN_OR_RETURN(side.undone, FindLeftUndone(copy, std::move(request)));
  return side;
}

// The node of that name; of one that inlining made ("call/f/node") the one that it was made of, if
// only one function has a node of that name. Else nothing.
Node OriginOf(const Module& module, llvm::StringRef name) {
  auto found = FindNode(module, name);
  if (found) return *found;
  llvm::consumeError(found.takeError());
  for (llvm::StringRef rest = name.split('/').second; !rest.empty();
       rest = rest.split('/').second) {
    Node only;
    int count = 0;
    for (const auto& function : module.functions) {
      if (Node node = function->body.Find(rest)) only = node, ++count;
    }
    if (count == 1) return only;
  }
  return Node();
}

class Comparer {
 public:
  Comparer(const OpenedGraph& base, const OpenedGraph& model, const Diff& changes,
           OptimizedSide before, OptimizedSide now)
      : base_(base.module()),
        model_(model.module()),
        before_(std::move(before)),
        now_(std::move(now)) {
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
  }

  std::vector<LostFusion> Run() {
    std::vector<bool> is_taken(now_.fusions.size());
    std::vector<const FusionRewrite*> open;
    for (const FusionRewrite& fusion : before_.fusions) {
      if (!IsStillThere(fusion)) continue;
      int same = FindSame(fusion);
      if (same >= 0) {
        is_taken[same] = true;
      } else {
        open.push_back(&fusion);
      }
    }
    // Of nodes that inlining made and the model names otherwise, no name says which is which.
    for (size_t i = 0; i < is_taken.size(); ++i) {
      if (is_taken[i]) continue;
      auto like = llvm::find_if(open, [&](const FusionRewrite* fusion) {
        return fusion->rule == now_.fusions[i].rule && !IsInBase(fusion->anchor);
      });
      if (like != open.end()) open.erase(like);
    }
    std::vector<LostFusion> lost;
    for (const FusionRewrite* fusion : open) lost.push_back(Tell(*fusion));
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
  bool IsInBase(const std::string& name) const { return in_model_.count(name) > 0; }
  std::string InModel(const std::string& name) const {
    auto found = in_model_.find(name);
    return found == in_model_.end() ? name : found->second;
  }
  bool IsStillThere(const FusionRewrite& fusion) const {
    return llvm::any_of(fusion.used, [&](const std::string& node) {
      return node != fusion.anchor && !gone_.count(node);
    });
  }

  // A fusion here of as many nodes, with one that the base's fusion takes in.
  int FindSame(const FusionRewrite& fusion) const {
    for (size_t i = 0; i < now_.fusions.size(); ++i) {
      const FusionRewrite& other = now_.fusions[i];
      if (other.used.size() < fusion.used.size()) continue;
      bool has_all = llvm::all_of(fusion.used, [&](const std::string& node) {
        return gone_.count(node) || other.used.count(InModel(node));
      });
      if (has_all) return static_cast<int>(i);
    }
    return -1;
  }

  std::string PatternOf(const FusionRewrite& fusion) const {
    std::vector<Node> nodes;
    for (const std::string& name : fusion.used) {
      if (Node node = OriginOf(base_, name)) nodes.push_back(node);
    }
    if (nodes.size() < 2) return fusion.rule;
    std::string text;
    while (!nodes.empty()) {  // what is read comes before what reads it
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

  // What the model's rules say of these nodes: of what is left, else of what they met on the way;
  // that of the same rule first.
  std::string ReasonOf(const FusionRewrite& fusion) const {
    std::set<std::string> here;
    for (const std::string& node : fusion.used) here.insert(InModel(node));
    for (const auto* refusals : {&now_.undone.refusals, &now_.undone.on_the_way}) {
      const Refusal* best = nullptr;
      for (const Refusal& refusal : *refusals) {
        if (!here.count(PlaceOf(refusal))) continue;
        if (!best || (refusal.rule == fusion.rule && best->rule != fusion.rule)) best = &refusal;
      }
      if (best) return best->pass + "/" + best->rule + ": " + best->reason;
    }
    for (const std::string& node : here) {
      auto became = became_.find(node);
      if (became != became_.end()) return "'" + node + "' " + became->second;
    }
    return "the rule finds its pattern no more";
  }

  LostFusion Tell(const FusionRewrite& fusion) const {
    std::string name = InModel(fusion.anchor);
    for (const std::string& node : fusion.used) {
      if (gone_.count(fusion.anchor) && !gone_.count(node)) name = InModel(node);
    }
    Node node = OriginOf(model_, name);
    return {node ? FullNameOf(node) : name, fusion.rule, PatternOf(fusion), ReasonOf(fusion)};
  }

  const Module &base_, &model_;
  const OptimizedSide before_, now_;
  std::map<std::string, std::string> in_model_;
  std::map<std::string, std::string> became_;  // by the model's node: what the diff says of it
  std::set<std::string> gone_;
};

}  // namespace

Expected<std::vector<LostFusion>> FindLostFusions(const OpenedGraph& base, const OpenedGraph& model,
                                                  const Diff& changes, ThreadPool* pool) {
  ASSIGN_OR_RETURN(OptimizedSide before, OptimizeSide(base, pool));
  ASSIGN_OR_RETURN(OptimizedSide now, OptimizeSide(model, pool));
  return Comparer(base, model, changes, std::move(before), std::move(now)).Run();
}

}  // namespace grapnel
