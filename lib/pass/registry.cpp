#include "lib/pass/registry.h"

#include <mutex>
#include <set>

#include "lib/pass/op_pattern.h"
#include "lib/support/plugin.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

Error NotListed(Error error) {
  return MakeError("{0} (`grapnel passes` lists them)", TextOf(std::move(error)));
}

// The reason why a rule cannot join its optimizer's rules, or "".
std::string WhyNot(const Rule& rule, llvm::ArrayRef<const Rule*> others) {
  const char* of = rule.apply.optimizer();
  if (of && llvm::StringRef(of) != rule.optimizer)
    return llvm::formatv("rule '{0}' of optimizer '{1}' takes the context type of optimizer '{2}'",
                         rule.name, rule.optimizer, of)
        .str();
  for (const Rule* other : others) {
    if (llvm::StringRef(other->name) == rule.name)
      return llvm::formatv("rule '{0}/{1}' already exists", rule.optimizer, rule.name).str();
  }
  return "";
}

// Appends the rules that directly follow `name`, each with the rules that follow it.
void AppendFollowers(llvm::ArrayRef<const Rule*> rules, llvm::StringRef name,
                     std::vector<const Rule*>* ordered) {
  for (const Rule* rule : llvm::reverse(rules)) {
    if (!rule->after || name != rule->after) continue;
    ordered->push_back(rule);
    AppendFollowers(rules, rule->name, ordered);
  }
}

std::vector<const Rule*> Ordered(llvm::ArrayRef<const Rule*> rules) {
  std::map<int, std::vector<const Rule*>> phases;
  for (const Rule* rule : rules) phases[rule->phase].push_back(rule);
  std::vector<const Rule*> ordered;
  for (auto& [number, phase] : phases) {
    AppendFollowers(phase, kFirst, &ordered);
    for (const Rule* rule : phase) {
      if (rule->after) continue;
      ordered.push_back(rule);
      AppendFollowers(phase, rule->name, &ordered);
    }
  }
  return ordered;
}

// Guards RulesOfOne::ordered of all registries; sorting takes microseconds.
std::mutex& OrderMutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

bool IsRegistered(Error error) {
  if (!error) return true;
  ReportBadRegistration(TextOf(std::move(error)));
  return false;
}

}  // namespace

PassRegistry& PassRegistry::Get() {
  static PassRegistry* registry = new PassRegistry;
  return *registry;
}

// RulesOf() of `other` may sort its rules on another thread meanwhile.
PassRegistry::PassRegistry(const PassRegistry& other)
    : passes_(other.passes_), rules_(other.rules_) {
  std::lock_guard lock(OrderMutex());
  rules_of_ = other.rules_of_;
}

bool RegisterPass(PassInfo info, std::unique_ptr<GraphPass> (*make)(),
                  std::vector<PassStep> steps) {
  return IsRegistered(PassRegistry::Get().Add({info, make, std::move(steps), PluginBeingLoaded()}));
}

bool RegisterRule(Rule rule) {
  rule.plugin = PluginBeingLoaded();
  return IsRegistered(PassRegistry::Get().Add(std::move(rule)));
}

Error PassRegistry::Add(Entry pass) {
  if (Find(pass.info.name)) return MakeError("pass '{0}' already exists", pass.info.name);
  passes_.push_back(std::make_shared<const Entry>(std::move(pass)));
  return Error::success();
}

Error PassRegistry::Add(Rule rule) {
  RulesOfOne& rules = rules_of_[rule.optimizer];
  if (std::string why = WhyNot(rule, rules.registered); !why.empty()) return MakeError("{0}", why);
  rules_.push_back(std::make_shared<const Rule>(std::move(rule)));
  rules.registered.push_back(rules_.back().get());
  rules.ordered.clear();
  return Error::success();
}

Error PassRegistry::CheckPlugins() const {
  for (const auto& rule : rules_) {
    if (!*rule->plugin) continue;
    auto annotate = [&](Error error) {
      return Annotate(llvm::Twine(rule->plugin) + ": rule '" + rule->name + "'", std::move(error));
    };
    auto fail = [&](Error error) { return annotate(NotListed(std::move(error))); };
    if (Error error = OpPattern::ParseAll(rule->pattern, rule->ops).takeError())
      return annotate(std::move(error));
    std::vector<std::string> names;
    if (!Find(rule->optimizer)) {
      for (const auto& entry : passes_) names.push_back(entry->info.name);
      return fail(NotFound("pass", rule->optimizer, names));
    }
    // An optimizer whose own rules are of several phases visits these phases and no others.
    std::set<int> phases;
    for (const Rule* other : rules_of_[rule->optimizer].registered)
      if (!*other->plugin) phases.insert(other->phase);
    if (phases.size() > 1 && !phases.contains(rule->phase))
      return fail(MakeError("pass '{0}' has no phase {1}; it has {2} to {3}", rule->optimizer,
                            rule->phase, *phases.begin(), *phases.rbegin()));
    llvm::ArrayRef<const Rule*> rules = RulesOf(rule->optimizer);
    if (llvm::is_contained(rules, rule.get())) continue;
    for (const Rule* other : rules_of_[rule->optimizer].registered)
      if (other->phase == rule->phase) names.push_back(other->name);
    if (llvm::is_contained(names, rule->after))
      return fail(MakeError("it follows '{0}', which follows it in turn or has no place itself",
                            rule->after));
    return fail(NotFound("rule", rule->after, names));
  }
  return Error::success();
}

std::vector<const PassRegistry::Entry*> PassRegistry::Passes() const {
  std::vector<const Entry*> passes;
  for (const auto& entry : passes_) passes.push_back(entry.get());
  llvm::sort(passes, [](const Entry* a, const Entry* b) {
    return std::pair(a->info.order, llvm::StringRef(a->info.name)) <
           std::pair(b->info.order, llvm::StringRef(b->info.name));
  });
  return passes;
}

const PassRegistry::Entry* PassRegistry::Find(llvm::StringRef name) const {
  if (name.empty()) return nullptr;  // "" must not match a pass without a config_name
  for (const auto& entry : passes_) {
    if (name == entry->info.name || name == entry->info.config_name) return entry.get();
  }
  return nullptr;
}

std::vector<PassStep> PassRegistry::ReportedBy(const Entry& pass) const {
  std::vector<PassStep> reported = pass.steps;
  for (PassStep& step : reported) step.plugin = pass.plugin;
  for (const Rule* rule : RulesOf(pass.info.name))
    reported.push_back({rule->name, rule->help, rule->refuses, rule->plugin});
  llvm::sort(reported,
             [](const PassStep& a, const PassStep& b) { return llvm::StringRef(a.name) < b.name; });
  return reported;
}

llvm::ArrayRef<const Rule*> PassRegistry::RulesOf(llvm::StringRef optimizer) const {
  auto found = rules_of_.find(std::string_view(optimizer));
  if (found == rules_of_.end()) return {};
  RulesOfOne& rules = found->second;
  std::lock_guard lock(OrderMutex());
  if (rules.ordered.empty()) rules.ordered = Ordered(rules.registered);
  return rules.ordered;
}

Expected<PassRegistry::Choice> PassRegistry::Choose(llvm::StringRef name) const {
  if (const Entry* pass = Find(name)) return Choice{pass, ""};
  auto [of, rule] = name.split('/');
  if (const Entry* pass = Find(of); pass && !rule.empty()) {
    std::vector<std::string> names;
    for (const PassStep& step : ReportedBy(*pass)) {
      if (rule == step.name) return Choice{pass, rule.str()};
      names.push_back((of + "/" + step.name).str());
    }
    return NotListed(NotFound("rule", name, names));
  }
  std::vector<std::string> names;
  for (const auto& entry : passes_) {
    names.push_back(entry->info.name);
    names.push_back(entry->info.config_name);
    for (const PassStep& step : ReportedBy(*entry))
      names.push_back(std::string(entry->info.name) + "/" + step.name);
  }
  return NotListed(NotFound("pass", name, names));
}

Error PassRegistry::CheckRuleExists(llvm::StringRef name) const {
  std::vector<std::string> names;
  for (const auto& entry : passes_) {
    std::string pass = entry->info.name;
    names.push_back(pass);
    for (const PassStep& step : ReportedBy(*entry)) {
      names.push_back(step.name);
      if (name.contains('/')) names.push_back(pass + "/" + step.name);
    }
  }
  if (llvm::is_contained(names, name)) return Error::success();
  return NotListed(NotFound("rule", name, names));
}

}  // namespace grapnel
