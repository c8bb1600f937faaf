// Follows nodes through a run of passes. node_question_answers.cpp has the answers.
#include "lib/job/node_question.h"

#include "lib/ir/find.h"
#include "lib/ir/types.h"
#include "lib/job/name_resolver.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::string NameInFunction(llvm::StringRef function, llvm::StringRef node) {
  return function.empty() ? node.str() : (function + "/" + node).str();
}

NodeAndOp Both(const Node& node) { return {node.name().str(), node.op().str()}; }

std::vector<NodeAndOp> Both(llvm::ArrayRef<Node> nodes) {
  std::vector<NodeAndOp> both;
  for (const Node& node : nodes) both.push_back(Both(node));
  return both;
}

// True if the rewrite changes, removes or uses the node.
bool Concerns(const Rewrite& rewrite, const std::string& node) {
  return rewrite.node == node || llvm::is_contained(rewrite.used, node) ||
         llvm::is_contained(rewrite.changed, node) || llvm::is_contained(rewrite.removed, node);
}

// True if only nodes read the tensors of `node` that were replaced in this rewrite, and have no
// readers anymore.
bool IsLeftBehind(const Node& node, const Rewrite& rewrite) {
  return llvm::all_of(node.uses(), [&](const Use& use) {
    Node reader = node.graph().node(use.node);
    if (static_cast<int>(use.slot) >= reader.num_inputs()) return true;  // a control edge
    std::string name = reader.name().str();
    return (rewrite.node == name || llvm::is_contained(rewrite.used, name)) &&
           !llvm::is_contained(rewrite.changed, name) && !reader.HasDataUses();
  });
}

// True for ops that only stand where a value was, so that nothing was fused into them.
bool IsPlain(llvm::StringRef op) {
  return op == "Const" || op == "Identity" || op == "Snapshot" || op == "NoOp";
}

const Graph* FindBody(const Module& module, llvm::StringRef function) {
  if (function.empty()) return &module.main;
  const Function* found = module.FindFunction(function);
  return found ? &found->body : nullptr;
}

// An error if `text` means nodes of the whole file, but none of the network that was taken from it.
Error CheckIsInNetwork(const OpenedGraph& opened, const NodeSelection& selection) {
  const OpenedGraph& whole = opened.whole();
  if (&whole == &opened || !selection.nodes().empty()) return Error::success();
  auto outside = NameResolver(whole).Nodes(selection.text(), /*may_come=*/true);
  if (!outside) return llvm::consumeError(outside.takeError()), Error::success();
  if (outside->nodes().empty()) return Error::success();
  llvm::ArrayRef<Signature> signatures = opened.file().signatures;
  return MakeError(
      "{0}: '{1}' is not in the network of {2}, which is what passes optimize here "
      "(--signature, --function)",
      opened.model().path, selection.text(),
      signatures.empty() ? "the function" : "signature '" + signatures[0].name + "'");
}

}  // namespace

Expected<std::unique_ptr<NodeQuestion>> NodeQuestion::About(const OpenedGraph& opened,
                                                            llvm::StringRef text,
                                                            std::string rule) {
  ASSIGN_OR_RETURN(NodeSelection selection, NameResolver(opened).Nodes(text, /*may_come=*/true));
  RETURN_IF_ERROR(CheckIsInNetwork(opened, selection));
  auto question = std::make_unique<NodeQuestion>(std::move(selection), std::move(rule));
  question->layers_ = LayersOf(opened.file());
  return question;
}

void NodeQuestion::Join(OptimizeOptions* options) {
  registry_ = options->registry ? options->registry : &PassRegistry::Get();
  for (const std::string& name : options->without) {
    auto choice = registry_->Choose(name);
    if (!choice) {
      llvm::consumeError(choice.takeError());  // the run reports it
      continue;
    }
    std::string rule = choice->rule.empty() ? "" : "/" + choice->rule;
    without_.push_back(choice->pass->info.name + rule);
  }
  options->on_refusal = [this, tell = options->on_refusal](const Refusal& refusal) {
    if (tell) tell(refusal);
    Hear(refusal, /*is_match=*/true);
  };
  options->on_mismatch = [this](const Refusal& refusal) { Hear(refusal, /*is_match=*/false); };
  limit_ = options->limit;
  int place = 0;
  for (const PassRegistry::Entry* pass : registry_->Passes()) {
    for (const Rule* rule : registry_->RulesOf(pass->info.name)) {
      if (!IsAskedRule(pass->info.name, rule->name) || !IsSelected(*pass, *rule, *options))
        continue;
      auto patterns = OpPattern::ParseAll(rule->pattern, rule->ops);
      if (patterns && !patterns->empty())
        sought_.push_back({rule, pass, std::move(*patterns), place++});
      // A pattern of a plugin that cannot be parsed fails PassRegistry::CheckPlugins().
      llvm::consumeError(patterns.takeError());
    }
  }
}

// False if the options name the passes or rules that run, and not this one.
bool NodeQuestion::IsSelected(const PassRegistry::Entry& pass, const Rule& rule,
                              const OptimizeOptions& options) const {
  if (options.passes.empty()) return true;
  return llvm::any_of(options.passes, [&](llvm::StringRef name) {
    auto [of, chosen] = name.split('/');
    return registry_->Find(of) == &pass && (chosen.empty() || chosen == rule.name);
  });
}

bool NodeQuestion::IsAskedRule(llvm::StringRef pass, llvm::StringRef rule) const {
  return asked_rule_.empty() || asked_rule_ == rule || asked_rule_ == pass ||
         asked_rule_ == (pass + "/" + rule).str();
}

void NodeQuestion::Watch(llvm::StringRef function, llvm::StringRef node, size_t asked) {
  watched_[Key(function, node)].insert(asked);
}

void NodeQuestion::Ask(const Node& node, llvm::StringRef function) {
  Asked asked;
  asked.function = function.str();
  asked.name = node.name().str();
  asked.now = Both(node);
  asked.answer.node = NameInFunction(function, node.name());
  asked.answer.op = node.op().str();
  DataType type = node.GetType("T");
  if (type == proto::DT_INVALID) type = node.GetType("dtype");
  if (type != proto::DT_INVALID) asked.answer.dtype = DataTypeName(type).str();
  asked.answer.device = node.device().str();
  asked.is_read = node.HasDataUses();
  Watch(function, node.name(), asked_.size());
  asked_.push_back(std::move(asked));
}

void NodeQuestion::Scan(const Graph& graph, llvm::StringRef function) {
  if (!scanned_.insert(function.str()).second) return;
  for (Node node : graph.nodes()) {
    if (selection_.Has(NameInFunction(function, node.name()))) Ask(node, function);
  }
}

Error NodeQuestion::BeforePipeline(const Module& module) {
  Scan(module.main, "");
  for (const auto& function : module.functions) Scan(function->body, function->name());
  return Error::success();
}

Error NodeQuestion::BeforePass(const Stage& stage, const Module& module) {
  function_ = stage.function;
  graph_ = FindBody(module, function_);
  if (!graph_) return Error::success();
  Scan(*graph_, function_);
  // A stage that is not a registered pass says nothing: it belongs to the run as a whole.
  if (registry_->Find(stage.pass)) optimized_.insert(function_);
  for (Asked& asked : asked_) {
    if (asked.function == function_) Look(&asked, stage.pass);
  }
  return Error::success();
}

std::optional<NodeQuestion::Seen> NodeQuestion::Closest(const Sought& sought,
                                                        const Node& node) const {
  std::optional<PatternMatch> best;
  for (const OpPattern& pattern : sought.patterns) {
    std::optional<PatternMatch> match = ClosestMatch(pattern, node);
    if (match && (!best || match->distance < best->distance)) best = std::move(match);
  }
  if (!best) return std::nullopt;
  Seen seen;
  seen.nodes = Both(best->nodes);
  seen.is_read = best->nodes.back().HasDataUses();
  seen.distance = best->distance;
  for (const PatternGap& gap : best->gaps) {
    seen.reason += (seen.reason.empty() ? "" : "; ") + gap.reason;
    if (!gap.remedy.empty()) seen.remedy += (seen.remedy.empty() ? "" : "; ") + gap.remedy;
    llvm::append_range(seen.between, Both(gap.between));
    seen.changes_values |= gap.changes_values;
  }
  return seen;
}

// Compares the graph around the node with the patterns of the pass that is about to run, and when
// the node is first seen with all patterns.
void NodeQuestion::Look(Asked* asked, llvm::StringRef pass) {
  Node node = graph_->Find(asked->now.node);
  if (!node) return;
  asked->is_read = node.HasDataUses();
  bool is_first = !asked->is_known;
  asked->is_known = true;
  for (const Sought& sought : sought_) {
    bool is_next = pass == sought.pass->info.name;
    if (!is_next && !is_first) continue;
    std::optional<Seen> seen = Closest(sought, node);
    if (!seen) continue;
    if (is_first) {
      size_t index = asked - asked_.data();
      for (const NodeAndOp& one : seen->nodes) Watch(asked->function, one.node, index);
      asked->first[sought.place] = *seen;
    }
    if (!is_next) continue;
    auto [known, is_new] = asked->last.try_emplace(sought.place, *seen);
    if (!is_new && seen->distance <= known->second.distance) known->second = std::move(*seen);
  }
}

void NodeQuestion::Hear(const Refusal& refusal, bool is_match) {
  if (!IsAskedRule(refusal.pass, refusal.rule)) return;
  Node node = graph_ ? graph_->Find(refusal.node) : Node();
  if (!node) return;
  // Rules say of most nodes why they do not match: counts only for watched nodes. A refusal always
  // counts, since its reason may name an asked node.
  if (!is_match && watched_.count(Key(refusal.function, refusal.node)) == 0) return;
  Said said{refusal, is_match, {Both(node)}, 0, false, node.op().str(), rewrites_.size()};
  if (const Sought* sought = FindSought(refusal.pass, refusal.rule)) {
    std::optional<Seen> seen = Closest(*sought, node);
    // A rule's words about a node in the middle of a pattern are not about the pattern.
    bool is_root = is_match || (seen && seen->nodes.back().node == refusal.node);
    if (seen && is_root && seen->distance <= kFoundOps) said.nodes = std::move(seen->nodes);
    said.changes_values = seen && seen->changes_values;
    said.distance = seen ? seen->distance : kFoundOps + 1;
  }
  std::string key = Key(refusal.function, refusal.node) + "\n" + refusal.pass + "/" + refusal.rule;
  // A refusal tells more than a later mismatch, when others have rewritten the pattern.
  auto [known, is_new] = said_.try_emplace(key, said);
  if (!is_new && (is_match || !known->second.is_match)) known->second = std::move(said);
}

void NodeQuestion::OnRewrite(const Rewrite& rewrite) {
  rewrites_.push_back(rewrite);
  if (!graph_) return;
  if (!rewrite.functions.empty()) AskAboutInlined(rewrite);
  if (selection_.nodes().empty()) AskAboutMade(rewrite);
  std::set<size_t> concerned;
  auto add = [&](const std::string& node) {
    auto found = watched_.find(Key(rewrite.function, node));
    if (found != watched_.end()) concerned.insert(found->second.begin(), found->second.end());
  };
  add(rewrite.node);
  for (const auto* names : {&rewrite.used, &rewrite.changed, &rewrite.removed})
    llvm::for_each(*names, add);
  for (size_t index : concerned) {
    if (Concerns(rewrite, asked_[index].now.node)) Follow(&asked_[index], rewrite);
    NoteBroken(&asked_[index], rewrite);
  }
}

// A call that was replaced by the nodes of its function brings nodes with new names.
void NodeQuestion::AskAboutInlined(const Rewrite& rewrite) {
  for (const std::string& made : rewrite.made) {
    std::string name = NameInFunction(rewrite.function, made);
    names_.push_back(name);
    bool is_asked = selection_.Has(name);
    llvm::StringRef inner = made;
    if (!is_asked && inner.consume_front(rewrite.node) && inner.consume_front("/")) {
      is_asked = llvm::any_of(rewrite.functions, [&](const std::string& function) {
        return selection_.Has(NameInFunction(function, inner));
      });
    }
    Node node = is_asked ? graph_->Find(made) : Node();
    if (node) Ask(node, rewrite.function);
  }
}

// A name that the graph before the passes lacks means the nodes that passes give it to.
void NodeQuestion::AskAboutMade(const Rewrite& rewrite) {
  for (const std::string& made : rewrite.made) {
    if (watched_.count(Key(rewrite.function, made)) ||
        !selection_.Has(NameInFunction(rewrite.function, made)))
      continue;
    if (Node node = graph_->Find(made)) Ask(node, rewrite.function);
  }
}

// The node that stands for the asked one after the rewrite; no node if there is none.
Node NodeQuestion::Successor(const Asked& asked, const Rewrite& rewrite) const {
  const std::string& name = asked.now.node;
  if (Node same = graph_->Find(name); same && same.op() != asked.now.op) return same;
  if (rewrite.node != name && llvm::is_contained(rewrite.changed, rewrite.node)) {
    if (Node root = graph_->Find(rewrite.node)) return root;
  }
  // The one node that reads the others among those that were made.
  Node last;
  for (const std::string& made : rewrite.made) {
    Node node = graph_->Find(made);
    if (!node) continue;
    bool is_inner = llvm::any_of(node.uses(), [&](const Use& use) {
      return llvm::is_contained(rewrite.made, graph_->node(use.node).name());
    });
    if (!is_inner && (!last || last.op() == "Const")) last = node;
  }
  if (last) return last;
  Node other;
  for (const std::string& used : rewrite.used) {
    Node node = used == name ? Node() : graph_->Find(used);
    if (node && other) return Node();
    if (node) other = node;
  }
  return other;
}

void NodeQuestion::Follow(Asked* asked, const Rewrite& rewrite) {
  Node same = graph_->Find(asked->now.node);
  bool is_superseded = same && asked->is_read && IsLeftBehind(same, rewrite);
  if (same && same.op() == asked->now.op && !is_superseded) {
    asked->is_read = same.HasDataUses();
    return;
  }
  NodeChange change;
  change.rewrite = rewrite.number;
  change.pass = rewrite.pass;
  change.rule = rewrite.rule;
  std::set<std::string> others = {rewrite.node};
  for (const auto* names : {&rewrite.used, &rewrite.removed})
    others.insert(names->begin(), names->end());
  others.erase(asked->now.node);
  others.erase("");
  for (const std::string& other : others) {
    if (llvm::is_contained(rewrite.made, other)) continue;
    // A removed node, and one that has changed, have lost their op; a pattern may know it.
    std::string op;
    for (const auto* matches : {&asked->first, &asked->last}) {
      for (const auto& [place, seen] : *matches) {
        for (const NodeAndOp& node : seen.nodes)
          if (node.node == other) op = node.op;
      }
    }
    if (Node node = graph_->Find(other); node && op.empty()) op = node.op().str();
    if (op != "Const") change.with.push_back({other, op});
  }
  Node successor = Successor(*asked, rewrite);
  if (successor && !(is_superseded && successor == same)) {
    bool is_new = successor.op() != asked->now.op && !IsPlain(successor.op());
    change.kind = is_new && !change.with.empty() ? NodeChange::kFused : NodeChange::kRewritten;
    change.into = Both(successor);
    if (auto ops = successor.FindAttr("fused_ops")) {
      for (llvm::StringRef op : ops->AsStrings().value_or(std::vector<llvm::StringRef>()))
        change.fused_ops.push_back(op.str());
    }
    asked->is_read = successor.HasDataUses();
    Watch(asked->function, successor.name(), asked - asked_.data());
  }
  asked->now = change.into;
  asked->answer.changes.push_back(std::move(change));
}

void NodeQuestion::NoteBroken(Asked* asked, const Rewrite& rewrite) {
  Node node = graph_->Find(asked->now.node);
  for (const Sought& sought : sought_) {
    auto seen = asked->first.find(sought.place);
    if (seen == asked->first.end() || seen->second.distance > 0 ||
        asked->broken.count(sought.place))
      continue;
    bool is_near = llvm::any_of(seen->second.nodes,
                                [&](const NodeAndOp& one) { return Concerns(rewrite, one.node); });
    if (!is_near) continue;
    std::optional<Seen> now = node ? Closest(sought, node) : std::nullopt;
    Node last = graph_->Find(seen->second.nodes.back().node);
    bool is_left = last && seen->second.is_read && IsLeftBehind(last, rewrite);
    if (!now || now->distance > 0 || is_left) asked->broken[sought.place] = rewrites_.size() - 1;
  }
}

const NodeQuestion::Sought* NodeQuestion::FindSought(llvm::StringRef pass,
                                                     llvm::StringRef rule) const {
  auto found = llvm::find_if(sought_, [&](const Sought& sought) {
    return pass == sought.pass->info.name && rule == sought.rule->name;
  });
  return found == sought_.end() ? nullptr : &*found;
}

}  // namespace grapnel
