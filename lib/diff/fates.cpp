#include "lib/diff/fates.h"

#include <map>
#include <set>

#include "lib/diff/followed_changes.h"
#include "lib/diff/opened_calls.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The source of a node's input, as a name that means the same node in both bodies.
struct SourceName {
  llvm::StringRef node;
  int32_t port;  // kControlPort: a control input
  bool operator==(const SourceName& other) const {
    return node == other.node && port == other.port;
  }
};

llvm::SmallVector<SourceName, 4> SourcesOf(const Node& node) {
  llvm::SmallVector<SourceName, 4> sources;
  for (Port port : node.inputs())
    if (port.node != kNoNode)
      sources.push_back({Node(&node.graph(), port.node).name(), port.index});
  return sources;
}

// Finds the outcomes of removed nodes in a body that both modules have.
class BodyFates {
 public:
  BodyFates(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  NodeOutcome Of(const Node& gone) {
    auto [it, is_new] = known_.try_emplace(gone.id());
    if (!is_new) return it->second;  // kPruned if a cycle leads back to the node
    NodeOutcome best;
    for (const Use& use : gone.uses()) {
      Node reader(&a_, use.node);
      Node after = b_.Find(reader.name());
      NodeOutcome fate = after ? BySurvivor(gone, reader, after, use) : ByReader(gone, reader, use);
      if (Weight(fate) > Weight(best)) best = fate;
    }
    known_[gone.id()] = best;
    return best;
  }

 private:
  // Ranks outcomes by certainty: each reader of a removed node suggests one, and the most certain
  // counts.
  static int Weight(const NodeOutcome& fate) {
    switch (fate.kind) {
      case NodeOutcome::kMerged:
        return 5;
      case NodeOutcome::kFused:
        return 4;
      case NodeOutcome::kBypassed:
        return 3;
      case NodeOutcome::kFolded:
        return 2;
      case NodeOutcome::kReplaced:
        return 1;
      case NodeOutcome::kPruned:
        return 0;
    }
    return 0;
  }

  // Returns the inputs that a reader has in B but not in A.
  static llvm::SmallVector<SourceName, 4> GainedBy(const Node& reader, const Node& after) {
    llvm::SmallVector<SourceName, 4> before = SourcesOf(reader), gained;
    for (const SourceName& source : SourcesOf(after)) {
      auto it = llvm::find(before, source);
      if (it == before.end()) {
        gained.push_back(source);
      } else {
        before.erase(it);
      }
    }
    return gained;
  }

  // Returns what the reader reads in B, as `after`, in place of `gone`: its input in the same slot;
  // if that is not new, a new input whose source has the op of `gone`; otherwise its first new
  // input.
  std::optional<SourceName> InPlaceOf(const Node& gone, const Node& reader, const Node& after,
                                      const Use& use) const {
    bool is_data = use.slot < static_cast<uint32_t>(reader.num_inputs());
    llvm::SmallVector<SourceName, 4> gained;
    for (const SourceName& source : GainedBy(reader, after))
      if ((source.port != kControlPort) == is_data) gained.push_back(source);
    if (gained.empty()) return std::nullopt;
    llvm::SmallVector<SourceName, 4> now = SourcesOf(after);
    bool has_place = after.num_inputs() == reader.num_inputs() && use.slot < now.size() && is_data;
    if (has_place && llvm::is_contained(gained, now[use.slot])) return now[use.slot];
    auto same_op = llvm::find_if(
        gained, [&](const SourceName& source) { return b_.Find(source.node).op() == gone.op(); });
    return same_op == gained.end() ? gained.front() : *same_op;
  }

  NodeOutcome BySurvivor(const Node& gone, const Node& reader, const Node& after,
                         const Use& use) const {
    bool other_op = after.op() != reader.op();
    if (other_op && IsConstant(after)) return {NodeOutcome::kFolded, after.name().str()};
    std::optional<SourceName> now = InPlaceOf(gone, reader, after, use);
    if (!now) {
      bool waits_for_its_inputs = !other_op && ReadsBehind(gone, after);
      if (waits_for_its_inputs) return {NodeOutcome::kBypassed, after.name().str()};
      return {};
    }
    Node source = b_.Find(now->node), before = a_.Find(now->node);
    std::string name = now->node.str();
    if (other_op && (before ? IsBehind(gone, now->node) : !IsConstant(source)))
      return {NodeOutcome::kFused, after.name().str()};
    if (before && IsBehind(gone, now->node)) return {NodeOutcome::kBypassed, name};
    if (before && before.op() == gone.op()) return {NodeOutcome::kMerged, name};
    if (IsConstant(source)) return {NodeOutcome::kFolded, name};
    return {NodeOutcome::kReplaced, name};
  }

  // Derives the outcome of `gone` from that of a reader that was removed too. If it cannot, `gone`
  // counts as pruned: nothing reads it any more.
  NodeOutcome ByReader(const Node& gone, const Node& reader, const Use& use) {
    NodeOutcome fate = Of(reader);
    switch (fate.kind) {
      case NodeOutcome::kMerged: {
        // The reader was merged into an equal node, `twin`, whose input in the same slot is then
        // equal to `gone`.
        Node twin = a_.Find(fate.into);
        if (!twin || static_cast<int>(use.slot) >= twin.num_inputs()) return {};
        Node source = twin.input_node(static_cast<int>(use.slot));
        if (!source || source == gone || source.op() != gone.op()) return {};
        if (b_.Find(source.name())) return {NodeOutcome::kMerged, source.name().str()};
        NodeOutcome of_source = Of(source);
        return of_source.kind == NodeOutcome::kMerged ? of_source : NodeOutcome();
      }
      case NodeOutcome::kBypassed:
        return IsBehind(gone, fate.into) ? fate : NodeOutcome();
      default:
        return fate;
    }
  }

  // Calls `visit` for the nodes that `gone` depends on, until it returns true. Follows the inputs
  // of removed nodes, but not those of nodes that B still has. In a large removed region, stops
  // after about kMost nodes.
  template <typename Visit>
  void VisitBehind(const Node& gone, Visit visit) const {
    constexpr size_t kMost = 256;
    llvm::SmallVector<Node, 8> todo = {gone};
    llvm::DenseSet<NodeId> seen = {gone.id()};
    while (!todo.empty() && seen.size() < kMost) {
      Node node = todo.pop_back_val();
      for (Port port : node.inputs()) {
        if (port.node == kNoNode || !seen.insert(port.node).second) continue;
        Node source(&a_, port.node);
        if (visit(source)) return;
        if (!b_.Find(source.name())) todo.push_back(source);
      }
    }
  }

  bool IsBehind(const Node& gone, llvm::StringRef name) const {
    bool found = false;
    VisitBehind(gone, [&](const Node& source) { return found = source.name() == name; });
    return found;
  }

  bool ReadsBehind(const Node& gone, const Node& after) const {
    std::set<llvm::StringRef> reads;
    for (const SourceName& source : SourcesOf(after)) reads.insert(source.node);
    bool found = false;
    VisitBehind(gone, [&](const Node& source) { return found = reads.contains(source.name()); });
    return found;
  }

  const Graph &a_, &b_;
  llvm::DenseMap<NodeId, NodeOutcome> known_;
};

// Finds the outcomes of removed nodes in the main graph and in the functions that both modules
// have.
class Teller {
 public:
  Teller(const Module& a, const Module& b, Diff* diff) : a_(a), b_(b), diff_(diff) {}

  void Run() {
    OpenCalls(a_, b_, diff_);
    for (const NodeEntry& node : diff_->removed) diff_->fates.push_back(FateOf(node));
    JoinFused();
    CountFollowedChanges(diff_);
    for (auto [node, fate] : llvm::zip(diff_->removed, diff_->fates))
      if (!node.function().empty() && !fate.into.empty())
        fate.into = (node.function() + "/" + fate.into).str();
  }

 private:
  NodeOutcome FateOf(const NodeEntry& entry) {
    llvm::StringRef function = entry.function();
    auto it = bodies_.find(function);
    if (it == bodies_.end()) {
      const Function* of_b = function.empty() ? nullptr : b_.FindFunction(function);
      if (!function.empty() && !of_b) return {};
      it = bodies_.try_emplace(function, entry.node.graph(), of_b ? of_b->body : b_.main).first;
    }
    return it->second.Of(entry.node);
  }

  // Makes a group of each fused node and the removed nodes that were fused into it, so that the
  // diff reports them as one replacement.
  void JoinFused() {
    using Place = std::pair<llvm::StringRef, llvm::StringRef>;  // a function, a name in it
    llvm::DenseMap<Place, std::vector<NodeEntry>> taken;
    for (auto [node, fate] : llvm::zip(diff_->removed, diff_->fates))
      if (fate.kind == NodeOutcome::kFused) taken[{node.function(), fate.into}].push_back(node);
    if (taken.empty()) return;
    // The groups made. If the diff is restricted to some nodes (--only), `matched` may lack the
    // node that removed nodes were fused into; these then stay in `removed`.
    llvm::DenseSet<Place> joined;
    std::vector<MatchedPair> matched;
    matched.reserve(diff_->matched.size());
    for (MatchedPair& pair : diff_->matched) {
      Place place = {pair.b.function(), pair.b.node.name()};
      auto it = taken.find(place);
      if (it == taken.end()) {
        matched.push_back(std::move(pair));
        continue;
      }
      GroupEntry group{it->second, {pair.b}};
      group.a.push_back(pair.a);
      llvm::sort(group.a, [](const NodeEntry& x, const NodeEntry& y) { return x.name < y.name; });
      diff_->groups.push_back(std::move(group));
      joined.insert(place);
    }
    diff_->matched = std::move(matched);
    size_t kept = 0;
    for (size_t i = 0; i < diff_->removed.size(); ++i) {
      const NodeOutcome& fate = diff_->fates[i];
      if (fate.kind == NodeOutcome::kFused &&
          joined.contains({diff_->removed[i].function(), fate.into}))
        continue;
      if (kept != i) {
        diff_->removed[kept] = diff_->removed[i];
        diff_->fates[kept] = std::move(diff_->fates[i]);
      }
      ++kept;
    }
    diff_->removed.resize(kept);
    diff_->fates.resize(kept);
  }

  const Module &a_, &b_;
  Diff* diff_;
  std::map<llvm::StringRef, BodyFates> bodies_;
};

}  // namespace

void FindOutcomes(const Module& a, const Module& b, Diff* diff) { Teller(a, b, diff).Run(); }

llvm::StringRef OutcomeWord(NodeOutcome::Kind kind) {
  switch (kind) {
    case NodeOutcome::kPruned:
      return "pruned";
    case NodeOutcome::kMerged:
      return "merged";
    case NodeOutcome::kFolded:
      return "folded";
    case NodeOutcome::kBypassed:
      return "bypassed";
    case NodeOutcome::kFused:
      return "fused";
    case NodeOutcome::kReplaced:
      return "replaced";
  }
  return "";
}

std::string OutcomeText(const NodeOutcome& fate) {
  switch (fate.kind) {
    case NodeOutcome::kPruned:
      return "pruned";
    case NodeOutcome::kMerged:
      return "merged into " + fate.into;
    case NodeOutcome::kFolded:
      return "folded into the constant " + fate.into;
    case NodeOutcome::kBypassed:
      return "bypassed: " + fate.into + " is read in its place";
    case NodeOutcome::kFused:
      return "fused into " + fate.into;
    case NodeOutcome::kReplaced:
      return "replaced by " + fate.into;
  }
  return "";
}

}  // namespace grapnel
