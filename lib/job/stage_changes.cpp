#include "lib/job/stage_changes.h"

#include <optional>

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostNames = 3;  // of nodes that a fusion took in
constexpr int kMostSteps = 64;    // from a node that is gone to one that took its work

std::string Quoted(const Node& node) { return ("'" + node.name() + "' (" + node.op() + ")").str(); }

bool IsFused(const Node& node) {
  return HasPrefix(node.op(), "_Fused") || HasPrefix(node.op(), "_Mkl");
}

class Changes {
 public:
  Changes(const Graph& before, const Graph& after, llvm::StringRef pass, GraphStory* story)
      : before_(before), after_(after), pass_(pass), story_(*story) {}

  void Run() {
    // Readers first: what became of them tells what became of what they read.
    std::vector<NodeId> order = TopologicalOrder(before_);
    for (NodeId id : llvm::reverse(order)) {
      Node node = before_.node(id);
      if (!after_.Find(node.name())) Tell(&story_.gone, node, TextOfGone(node));
    }
    for (Node node : after_.nodes()) {
      Node was = before_.Find(node.name());
      story_.gone.erase(node.name());
      if (!was) {
        Tell(&story_.here, node, "made by " + pass_.str());
      } else if (was.op() != node.op() && !WasMade(node)) {
        Tell(&story_.here, node, TextOfRewritten(node));
      }
    }
  }

 private:
  void Tell(llvm::StringMap<NodeStory>* where, const Node& node, const std::string& text) {
    (*where)[node.name()] = {pass_.str(), text};
  }

  bool WasMade(const Node& node) const {
    auto found = story_.here.find(node.name());
    return found != story_.here.end() && HasPrefix(found->second.text, "made by ");
  }

  std::string TextOfRewritten(const Node& node) {
    std::string by = " by " + pass_.str();
    if (node.op() == "Const") return "folded to a constant" + by;
    if (!IsFused(node)) return "rewritten to " + node.op().str() + by;
    std::string taken;
    size_t shown = 0;
    for (const std::string& each : taken_in_[node.name()]) {
      if (++shown <= kMostNames) taken += (taken.empty() ? " with " : ", ") + each;
    }
    if (shown > kMostNames) taken += ", ...";
    return "fused" + taken + " to " + node.op().str() + by;
  }

  // A node that is gone: whoever read it and is still there tells what it reads instead.
  std::string TextOfGone(const Node& node) {
    std::string by = " by " + pass_.str();
    bool is_read = false, is_only_held = true;
    for (const Use& use : node.uses()) {
      is_read = true;
      Node reader = before_.node(use.node), now = after_.Find(reader.name());
      is_only_held &= reader.input(use.slot).IsControl();
      if (std::optional<std::string> twin = TwinOf(node, reader, use)) {
        twins_[node.name()] = *twin;
        return "merged into '" + *twin + "'" + by;
      }
      if (!now || reader.input(use.slot).IsControl()) continue;
      if (now.op() == "Const" && reader.op() != "Const")
        return "folded into the constant '" + now.name().str() + "'" + by;
      if (now.op() != reader.op() && IsFused(now)) {
        taken_in_[now.name()].push_back(Quoted(node));
        return "fused into " + Quoted(now) + by;
      }
      if (std::optional<std::string> text = Instead(node, now, use)) return *text + by;
    }
    if (!is_read) return "pruned" + by + ": nothing read it";
    if (Node taker = TakerOf(node)) {
      if (taker.op() == "Const")
        return "folded into the constant '" + taker.name().str() + "'" + by;
      taken_in_[taker.name()].push_back(Quoted(node));
      return "fused into " + Quoted(taker) + by;
    }
    return is_only_held ? "dropped" + by + ": it only held the order"
                        : "pruned with its readers" + by;
  }

  // What a reader that kept its op has in the place of `node`.
  std::optional<std::string> Instead(const Node& node, const Node& reader, const Use& use) {
    if (static_cast<int>(use.slot) >= reader.num_inputs()) return std::nullopt;
    Node other = reader.input_node(use.slot);
    if (!other) return std::nullopt;
    std::string name = "'" + other.name().str() + "'";
    if (IsBypass(node, other)) return "bypassed: its readers read " + name;
    if (other.op() == node.op() && before_.Find(other.name())) {
      twins_[node.name()] = other.name().str();
      return "merged into " + name;
    }
    if (other.op() == "Const" && node.op() != "Const") return "folded to the constant " + name;
    return "replaced by " + Quoted(other);
  }

  // Whether `other` is what `node` reads, or what it reads through nodes that are gone too.
  bool IsBypass(const Node& node, const Node& other) const {
    Node at = node;
    for (int step = 0; step < kMostSteps && at; ++step) {
      for (Port port : at.inputs()) {
        if (port.node != kNoNode && before_.node(port.node).name() == other.name()) return true;
      }
      at = at.num_inputs() == 1 ? at.input_node(0) : Node();
      if (at && after_.Find(at.name())) return false;
    }
    return false;
  }

  // Where a reader was merged into a node, what that one reads in the place of `node`.
  std::optional<std::string> TwinOf(const Node& node, const Node& reader, const Use& use) const {
    auto merged = twins_.find(reader.name());
    Node instead = merged == twins_.end() ? Node() : after_.Find(merged->second);
    if (!instead || static_cast<int>(use.slot) >= instead.num_inputs()) return std::nullopt;
    Node other = instead.input_node(use.slot);
    if (!other || other.op() != node.op()) return std::nullopt;
    return other.name().str();
  }

  // Through readers that are gone too, the first that changed its op and took their work; none.
  Node TakerOf(const Node& node) const {
    Node at = node;
    for (int step = 0; step < kMostSteps; ++step) {
      Node next;
      for (const Use& use : at.uses()) {
        Node reader = before_.node(use.node), now = after_.Find(reader.name());
        if (now && now.op() != reader.op() && (IsFused(now) || now.op() == "Const")) return now;
        if (!now && !next) next = reader;
      }
      if (!next) return {};
      at = next;
    }
    return {};
  }

  const Graph &before_, &after_;
  llvm::StringRef pass_;
  GraphStory& story_;
  llvm::StringMap<std::vector<std::string>> taken_in_;  // by the node that took them
  llvm::StringMap<std::string> twins_;                  // what nodes were merged into
};

}  // namespace

void AddChanges(const Graph& before, const Graph& after, llvm::StringRef pass, GraphStory* story) {
  Changes(before, after, pass, story).Run();
}

}  // namespace grapnel
