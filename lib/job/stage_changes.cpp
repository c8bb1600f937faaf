#include "lib/job/stage_changes.h"

#include "lib/diff/diff.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostNamesOfFusion = 3;  // at most this many names of fused nodes are shown

std::string Quoted(const Node& node) { return ("'" + node.name() + "' (" + node.op() + ")").str(); }

class Changes {
 public:
  Changes(llvm::StringRef pass, GraphStory* story)
      : by_((" by " + pass).str()), pass_(pass), story_(*story) {}

  void Add(const Diff& diff) {
    for (auto [node, fate] : llvm::zip(diff.removed, diff.fates))
      if (node.function().empty()) Gone(node.name, TextOf(fate));
    for (const GroupEntry& group : diff.groups)
      if (group.b[0].function().empty()) AddFusion(group);
    for (const NodeEntry& node : diff.added)
      if (node.function().empty()) Here(node.name, "made" + by_);
    for (const OpenedCall& call : diff.opened) {
      Gone(call.call, "inlined" + by_ + ": " + Plural(call.nodes.size(), "node") + " of " +
                          call.function + " replace it");
      for (const auto& [node, copy] : call.nodes) Here(copy, "inlined from '" + node + "'" + by_);
    }
    for (const MatchedPair& pair : diff.matched) {
      bool is_new = HasPrefix(story_.here.lookup(pair.b.name).text, "made by ");
      if (!pair.b.function().empty() || is_new || pair.changes.empty()) continue;
      if (pair.a.node.op() != pair.b.node.op()) Here(pair.b.name, TextOfRewritten(pair.b.node));
    }
  }

 private:
  void Here(llvm::StringRef name, std::string text) {
    story_.gone.erase(name);
    story_.here[name] = {pass_.str(), std::move(text)};
  }
  void Gone(llvm::StringRef name, std::string text) {
    story_.gone[name] = {pass_.str(), std::move(text)};
  }

  std::string TextOf(const NodeOutcome& fate) const {
    std::string into = "'" + fate.into + "'";
    switch (fate.kind) {
      case NodeOutcome::kMerged:
        return "merged into " + into + by_;
      case NodeOutcome::kFolded:
        return "folded into the constant " + into + by_;
      case NodeOutcome::kBypassed:
        return "bypassed: its readers now read " + into + by_;
      case NodeOutcome::kFused:
        return "fused into " + into + by_;
      case NodeOutcome::kReplaced:
        return "replaced by " + into + by_;
      case NodeOutcome::kPruned:
        return "pruned" + by_ + ": nothing reads it";
    }
    return "";
  }

  std::string TextOfRewritten(const Node& node) const {
    if (node.op() == "Const") return "folded to a constant" + by_;
    return "rewritten to " + node.op().str() + by_;
  }

  void AddFusion(const GroupEntry& group) {
    const Node& whole = group.b[0].node;
    std::string taken;
    size_t shown = 0;
    for (const NodeEntry& part : group.a) {
      if (part.name == group.b[0].name) continue;
      Gone(part.name, "fused into " + Quoted(whole) + by_);
      if (++shown <= kMostNamesOfFusion) taken += (taken.empty() ? "" : ", ") + Quoted(part.node);
    }
    if (shown > kMostNamesOfFusion) taken += ", ...";
    Here(group.b[0].name, "fused with " + taken + " to " + whole.op().str() + by_);
  }

  std::string by_;
  llvm::StringRef pass_;
  GraphStory& story_;
};

}  // namespace

void AddChanges(const Module& before, const Module& after, llvm::StringRef pass,
                GraphStory* story) {
  if (&before != &after) Changes(pass, story).Add(DiffModules(before, after, {.by_name = true}));
}

}  // namespace grapnel
