#include "lib/pass/pass.h"

#include <algorithm>
#include <deque>

#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class RulePass : public GraphPass {
 public:
  explicit RulePass(std::vector<std::unique_ptr<Rule>> rules) : rules_(std::move(rules)) {}

  Error Run(Editor& edit) override {
    Graph& graph = edit.graph();
    for (const auto& rule : rules_) {
      if (rule->ops().empty()) any_op_.push_back(rule.get());
      for (llvm::StringRef op : rule->ops())
        by_op_[graph.module().strings.Intern(op)].push_back(rule.get());
    }
    std::deque<NodeId> work;
    std::vector<bool> queued(graph.end_id(), true);
    for (NodeId id : TopologicalOrder(graph)) work.push_back(id);
    while (!work.empty()) {
      NodeId id = work.front();
      work.pop_front();
      queued[id] = false;
      if (!graph.IsAlive(id)) continue;
      if (!ApplyTo(graph.node(id), edit)) return Error::success();
      for (NodeId touched : edit.TakeTouched()) {
        queued.resize(graph.end_id(), false);
        Enqueue(graph, touched, &queued, &work);
        if (!graph.IsAlive(touched)) continue;
        for (const Use& use : graph.node(touched).uses()) Enqueue(graph, use.node, &queued, &work);
      }
    }
    return Error::success();
  }

 private:
  static void Enqueue(const Graph& graph, NodeId id, std::vector<bool>* queued,
                      std::deque<NodeId>* work) {
    if (!graph.IsAlive(id) || (*queued)[id]) return;
    (*queued)[id] = true;
    work->push_back(id);
  }

  // False when the limit of rewrites is used up.
  bool ApplyTo(const Node& node, Editor& edit) {
    llvm::SmallVector<const Rule*, 8> rules(any_op_.begin(), any_op_.end());
    auto it = by_op_.find(node.op_id());
    if (it != by_op_.end()) rules.append(it->second.begin(), it->second.end());
    for (const Rule* rule : rules) {
      if (!edit.Begin(rule->name, node)) return false;
      Verdict verdict = rule->Apply(node, edit);
      edit.End();
      if (verdict.kind == Verdict::kDone) return true;  // the node may be gone or another now
    }
    return true;
  }

  std::vector<std::unique_ptr<Rule>> rules_;
  std::vector<const Rule*> any_op_;
  llvm::DenseMap<StringId, std::vector<const Rule*>> by_op_;
};

Error NotListed(Error error) {
  return MakeError("{0} (`grapnel passes` lists them)", TextOf(std::move(error)));
}

}  // namespace

std::unique_ptr<GraphPass> MakeRulePass(std::vector<std::unique_ptr<Rule>> rules) {
  return std::make_unique<RulePass>(std::move(rules));
}

PassRegistry& PassRegistry::Get() {
  static PassRegistry* registry = new PassRegistry;
  return *registry;
}

bool PassRegistry::AddPass(PassInfo info, std::unique_ptr<GraphPass> (*make)(),
                           std::vector<RuleInfo> rules) {
  llvm::sort(rules,
             [](const RuleInfo& a, const RuleInfo& b) { return llvm::StringRef(a.name) < b.name; });
  passes_.push_back({info, make, std::move(rules)});
  return true;
}

bool PassRegistry::AddRule(RuleInfo info, std::unique_ptr<Rule> (*make)()) {
  rules_.push_back({info, make});
  return true;
}

std::vector<const PassRegistry::Entry*> PassRegistry::Passes() const {
  std::vector<const Entry*> passes;
  for (const Entry& entry : passes_) passes.push_back(&entry);
  llvm::sort(passes, [](const Entry* a, const Entry* b) {
    return std::pair(a->info.order, llvm::StringRef(a->info.name)) <
           std::pair(b->info.order, llvm::StringRef(b->info.name));
  });
  return passes;
}

const PassRegistry::Entry* PassRegistry::Find(llvm::StringRef name) const {
  for (const Entry& entry : passes_) {
    if (name == entry.info.name || name == entry.info.config_name) return &entry;
  }
  return nullptr;
}

Expected<std::unique_ptr<GraphPass>> PassRegistry::Make(llvm::StringRef name) const {
  if (const Entry* entry = Find(name)) return entry->make();
  for (const RuleEntry& rule : rules_) {
    if (name != rule.info.name) continue;
    std::vector<std::unique_ptr<Rule>> one;
    one.push_back(rule.make());
    one.back()->name = name.rsplit('/').second.str();
    return MakeRulePass(std::move(one));
  }
  std::vector<std::string> names;
  for (const Entry& entry : passes_) {
    names.push_back(entry.info.name);
    names.push_back(entry.info.config_name);
  }
  for (const RuleEntry& rule : rules_) names.push_back(rule.info.name);
  return NotListed(NotFound("pass", name, names));
}

Error PassRegistry::DemandRule(llvm::StringRef name) const {
  std::vector<std::string> names;
  for (const Entry& entry : passes_) {
    std::string pass = entry.info.name;
    names.push_back(pass);
    for (const RuleInfo& rule : entry.rules) {
      names.push_back(rule.name);
      if (name.contains('/')) names.push_back(pass + "/" + rule.name);
    }
  }
  if (llvm::is_contained(names, name)) return Error::success();
  return NotListed(NotFound("rule", name, names));
}

std::vector<std::unique_ptr<Rule>> PassRegistry::MakeRules(llvm::StringRef folder) const {
  std::vector<const RuleEntry*> found;
  for (const RuleEntry& rule : rules_) {
    if (llvm::StringRef(rule.info.name).split('/').first == folder) found.push_back(&rule);
  }
  llvm::sort(found, [](const RuleEntry* a, const RuleEntry* b) {
    return llvm::StringRef(a->info.name) < b->info.name;
  });
  std::vector<std::unique_ptr<Rule>> rules;
  for (const RuleEntry* entry : found) {
    rules.push_back(entry->make());
    rules.back()->name = llvm::StringRef(entry->info.name).split('/').second.str();
  }
  return rules;
}

}  // namespace grapnel
