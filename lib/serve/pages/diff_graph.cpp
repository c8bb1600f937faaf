#include "lib/serve/pages/diff_graph.h"

#include "lib/diff/diff_text.h"
#include "lib/diff/renames.h"
#include "lib/pass/run_record.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// The largest number of scopes that are open initially.
constexpr size_t kScopesOpened = 12;
constexpr size_t kNamesShown = 6;

std::string Names(llvm::ArrayRef<NodeEntry> entries) {
  std::string text;
  for (size_t i = 0; i < std::min(entries.size(), kNamesShown); ++i)
    text += (i ? ", " : "") + (entries[i].node.op() + " " + entries[i].name).str();
  if (entries.size() > kNamesShown) text += " and " + Plural(entries.size() - kNamesShown, "more");
  return text;
}

std::string InBody(llvm::StringRef function, llvm::StringRef name) {
  return function.empty() ? name.str() : (function + "/" + name).str();
}

// Returns "remapper/fuse_bias: replaces ...".
std::string RuleLine(llvm::StringRef pass, llvm::StringRef rule) {
  std::string help = RuleHelp(pass, rule);
  return (pass + "/" + rule).str() + (help.empty() ? "" : ": " + help);
}

PageMarks::Detail DetailOf(const char* what, const Rewrite& rewrite, const std::string& rule_line) {
  PageMarks::Detail detail;
  detail.what = std::string(what) + "by rewrite " + std::to_string(rewrite.number);
  detail.text.reserve(rule_line.size() + rewrite.node.size() + 8);
  detail.text = rule_line;
  if (!rewrite.node.empty()) (detail.text += "\n  at '") += rewrite.node + "'";
  return detail;
}

}  // namespace

Expected<std::unique_ptr<DiffGraph>> DiffGraph::Make(const Module& b, const Diff& diff,
                                                     std::string title,
                                                     llvm::ArrayRef<Rewrite> rewrites,
                                                     const ValueReport* values,
                                                     std::function<BoxLayers()> layers) {
  std::unique_ptr<DiffGraph> made(new DiffGraph);
  made->graph_ = MakeUnion(b, diff, values ? DifferentInB(*values) : std::vector<Node>());
  made->statuses_.emplace(made->graph_);
  const Module& module = *made->graph_.module;
  made->numbers_[&module.main] = 0;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = *module.functions[i];
    made->prefixes_[&function.body] = function.name().str() + "/";
    made->numbers_[&function.body] = i + 1;
  }
  DiffGraph* page = made.get();
  PageMarks& marks = made->marks_;
  marks.title = "diff";
  marks.kinds = {"removed", "added", "changed", "replaced"};
  int weights = -1;  // the kind of nodes that differ only in values
  if (values) {
    weights = static_cast<int>(marks.kinds.size());
    marks.kinds.push_back("weights changed");
  }
  marks.kind_of = [page, weights](const Node& node) {
    if (weights >= 0 && page->statuses_->HasOtherValues(node)) return weights;
    return static_cast<int>(page->statuses_->Of(node)) - 1;
  };
  marks.is_listed = [page](const Node& node) {
    Key key = KeyOf(node);
    return page->graph_.status.count(key) > 0 && !page->beside_.contains(key);
  };
  marks.name_of = [page](const Node& node) {
    auto in_a = page->graph_.names_in_a.find({&node.graph(), node.id()});
    return in_a == page->graph_.names_in_a.end() ? node.name().str() : in_a->second;
  };
  marks.details = [page](const Node& node) { return page->DetailsOf(node); };
  marks.summary = {DiffSummary(diff)};
  if (values) marks.summary.push_back(ValuesSummary(*values));
  for (Rename& one : RenamesOf(diff))
    marks.renamed.push_back({std::move(one.a), std::move(one.b), one.nodes});
  marks.open = made->statuses_->ScopesToOpen(kScopesOpened);
  made->page_ =
      std::make_unique<GraphPage>(module, llvm::ArrayRef<Signature>(), std::move(title), &marks);
  made->page_->SetLayers(std::move(layers));
  made->AddChanges(diff);
  if (values) made->AddValues(*values);
  for (const Rewrite& rewrite : rewrites) made->AddRewrite(rewrite);
  return made;
}

void DiffGraph::SetValues(const Module& b, const std::optional<PageValues>& of_a,
                          const std::optional<PageValues>& of_b) {
  // A node of B has the same id in the merged graph.
  auto in_b = [this, &b](const Node& node) {
    size_t body = numbers_.lookup(&node.graph());
    if (body > b.functions.size()) return Node();
    const Graph& graph = body == 0 ? b.main : b.functions[body - 1]->body;
    return graph.IsAlive(node.id()) ? graph.node(node.id()) : Node();
  };
  auto only_in_a = std::make_shared<llvm::DenseMap<Key, Key>>();
  for (const auto& [key, node] : graph_.of_a) {
    if (graph_.StatusOf(node) == NodeStatus::kRemoved) (*only_in_a)[KeyOf(node)] = key;
  }
  const Graph* main = &graph_.module->main;
  auto variable_of = [this, main, in_b, of_a, of_b, only_in_a](const Node& node) -> NodeId {
    if (Node there = in_b(node)) return of_b ? of_b->variable_of(there) : kNoNode;
    auto there = only_in_a->find(KeyOf(node));
    if (!of_a || there == only_in_a->end()) return kNoNode;
    NodeId variable = of_a->variable_of({there->second.first, there->second.second});
    if (variable == kNoNode) return kNoNode;
    const Graph& main_of_a = there->second.first->module().main;
    Node here = graph_.of_a.lookup({&main_of_a, variable});
    // The panel of a node that only A has does not show the value that its variable has in B.
    bool is_shown = here && &here.graph() == main && only_in_a->count(KeyOf(here));
    return is_shown ? here.id() : kNoNode;
  };
  auto read = [main, in_b, of_a, of_b, only_in_a](NodeId variable) -> std::optional<Literal> {
    if (in_b(main->node(variable))) return of_b->read(variable);
    return of_a->read(only_in_a->lookup({main, variable}).second);
  };
  page_->SetValues({variable_of, read});
}

void DiffGraph::AddChanges(const Diff& diff) {
  auto move = [&](const NodeEntry& of_a) {
    if (Node here = OfA(of_a.node); here && NameOf(here) != of_a.name)
      moved_[of_a.name.str()] = here;
  };
  for (const NodeEntry& removed : diff.removed) move(removed);
  for (const MatchedPair& pair : diff.matched) {
    if (pair.a.name != pair.b.name) move(pair.a);
    if (pair.changes.empty()) continue;
    Node here = OfB(pair.b.function(), pair.b.node.name());
    for (const Change& change : pair.changes)
      AddDetail(here, {change.what, change.before, change.after, ""});
    if (pair.a.name != pair.b.name)
      AddDetail(here, {"called", pair.a.name.str(), pair.b.name.str(), ""});
  }
  for (const GroupEntry& group : diff.groups) {
    for (const NodeEntry& entry : group.b)
      AddDetail(OfB(entry.function(), entry.node.name()),
                {"made of", Names(group.a), Names(group.b), ""});
    for (const NodeEntry& entry : group.a) move(entry);
    for (const NodeEntry& entry : llvm::ArrayRef(group.b).drop_front()) {
      if (Node beside = OfB(entry.function(), entry.node.name())) beside_.insert(KeyOf(beside));
    }
  }
}

void DiffGraph::AddValues(const ValueReport& values) {
  for (const ValueDiff& one : values.different) {
    if (!one.in_b) continue;
    const Function* function = FunctionOf(one.in_b.graph());
    AddDetail(OfB(function ? function->name() : "", one.in_b.name()),
              {"values", "", "", DistanceText(one)});
  }
}

std::vector<PageMarks::Detail> DiffGraph::OwnDetailsOf(const Node& node) const {
  std::vector<PageMarks::Detail> details = details_.lookup(KeyOf(node));
  if (auto own = rewrites_.find(KeyOf(node)); own != rewrites_.end()) {
    for (const auto& [what, rewrite, rule_line] : own->second)
      details.push_back(DetailOf(what, *rewrite, *rule_line));
  }
  return details;
}

// Returns the details of the node, then those of the constants and variables that it reads, each
// with the name of the constant or variable.
std::vector<PageMarks::Detail> DiffGraph::DetailsOf(const Node& node) const {
  std::vector<PageMarks::Detail> details = OwnDetailsOf(node);
  for (const Node& source : statuses_->Within(node)) {
    for (PageMarks::Detail& detail : OwnDetailsOf(source)) {
      detail.what = NameOf(source) + ": " + detail.what;
      details.push_back(std::move(detail));
    }
  }
  if (details.empty() && statuses_->Of(node) == NodeStatus::kChanged)
    details.push_back({"function", "", "", "it calls a function with differences"});
  return details;
}

void DiffGraph::AddRewrite(const Rewrite& rewrite) {
  auto known = rule_lines_.try_emplace({rewrite.pass, rewrite.rule});
  std::string& rule_line = known.first->second;
  if (known.second) rule_line = RuleLine(rewrite.pass, rewrite.rule);
  auto add = [&](const char* what, std::optional<Place> place, bool removed) {
    if (!place) return;
    Node node(&page_->graph(place->first), place->second);
    // A node of A that was fused is drawn as the fused node of B, which was not removed.
    if (removed && graph_.StatusOf(node) != NodeStatus::kRemoved) return;
    rewrites_[KeyOf(node)].push_back({what, &rewrite, &rule_line});
  };
  for (const std::string& name : rewrite.made)
    add("Made ", FindAfter(rewrite.function, name), false);
  for (const std::string& name : rewrite.changed)
    add("Changed ", FindAfter(rewrite.function, name), false);
  for (const std::string& name : rewrite.removed)
    add("Removed ", FindBefore(rewrite.function, name), true);
}

Node DiffGraph::OfB(llvm::StringRef function, llvm::StringRef name) const {
  std::optional<Place> place = FindAfter(function, name);
  return place ? Node(&page_->graph(place->first), place->second) : Node();
}

std::optional<DiffGraph::Place> DiffGraph::FindBefore(llvm::StringRef function,
                                                      llvm::StringRef name) const {
  auto moved = moved_.find(InBody(function, name));
  return moved == moved_.end() ? page_->Find(function, name) : PlaceOf(moved->second);
}

std::optional<DiffGraph::Place> DiffGraph::FindAfter(llvm::StringRef function,
                                                     llvm::StringRef name) const {
  return page_->Find(function, name);
}

}  // namespace grapnel
