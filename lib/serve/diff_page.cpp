#include "lib/serve/diff_page.h"

#include "lib/diff/diff_text.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// More scopes than this are not opened by themselves.
constexpr size_t kScopesOpened = 12;
constexpr size_t kNamesShown = 6;

std::string Names(llvm::ArrayRef<NodeEntry> entries) {
  std::string text;
  for (size_t i = 0; i < std::min(entries.size(), kNamesShown); ++i)
    text += (i ? ", " : "") + entries[i].node.op().str() + " " + entries[i].name;
  if (entries.size() > kNamesShown) text += " and " + Plural(entries.size() - kNamesShown, "more");
  return text;
}

}  // namespace

Expected<std::unique_ptr<DiffPage>> DiffPage::Make(const Module& b, const Diff& diff,
                                                   std::string title) {
  std::unique_ptr<DiffPage> made(new DiffPage);
  ASSIGN_OR_RETURN(made->graph_, MakeUnion(b, diff));
  for (const MatchedPair& pair : diff.matched) {
    if (pair.changes.empty()) continue;
    std::vector<PageMarks::Detail>& details = made->details_[pair.b.name];
    for (const Change& change : pair.changes)
      details.push_back({change.what, change.before, change.after, ""});
    if (pair.a.name != pair.b.name) details.push_back({"called", pair.a.name, pair.b.name, ""});
  }
  for (const GroupEntry& group : diff.groups) {
    for (const NodeEntry& entry : group.b)
      made->details_[entry.name].push_back({"made of", Names(group.a), Names(group.b), ""});
    for (const NodeEntry& entry : group.a)
      made->details_[entry.name].push_back({"became", Names(group.a), Names(group.b), ""});
  }
  for (const auto& function : made->graph_.module->functions)
    made->prefixes_[&function->body] = function->name().str() + "/";
  DiffPage* page = made.get();
  PageMarks& marks = made->marks_;
  marks.title = "diff";
  marks.kinds = {"removed", "added", "changed", "replaced"};
  marks.kind_of = [page](const Node& node) {
    return static_cast<int>(page->graph_.StatusOf(node)) - 1;
  };
  marks.details = [page](const Node& node) {
    std::string name = page->prefixes_.lookup(&node.graph()) + node.name().str();
    auto found = page->details_.find(name);
    return found == page->details_.end() ? std::vector<PageMarks::Detail>() : found->second;
  };
  marks.summary = {DiffSummary(diff)};
  if (made->graph_.scopes.size() <= kScopesOpened) marks.open = made->graph_.scopes;
  made->page_ = std::make_unique<GraphPage>(*made->graph_.module, llvm::ArrayRef<Signature>(),
                                            std::move(title), &marks);
  return made;
}

}  // namespace grapnel
