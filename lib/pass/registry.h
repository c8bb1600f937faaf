// All passes and rules of the program, by name.
#ifndef GRAPNEL_LIB_PASS_REGISTRY_H_
#define GRAPNEL_LIB_PASS_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/pass/pass.h"
#include "lib/pass/rule.h"
#include "lib/support/public.h"

namespace grapnel {

// The program's registry is filled before main() begins and by plugins, and is read-only from then
// on. To add passes for one run alone, add them to a copy of it (OptimizeOptions::registry).
class GRAPNEL_PUBLIC PassRegistry {
 public:
  static PassRegistry& Get();
  PassRegistry() = default;
  PassRegistry(const PassRegistry& other);  // thread-safe, like all const functions
  PassRegistry& operator=(const PassRegistry&) = delete;

  struct Entry {
    PassInfo info;
    std::function<std::unique_ptr<GraphPass>()> make;
    std::vector<PassStep> steps;
    const char* plugin = "";  // the file that registered it; "": the program itself
  };
  // Sorted by order, then name.
  std::vector<const Entry*> Passes() const;
  // Finds a pass by name or config_name, or returns null.
  const Entry* Find(llvm::StringRef name) const;
  // The rules and steps that a pass reports, sorted by name.
  std::vector<PassStep> ReportedBy(const Entry& pass) const;
  // The rules of an optimizer, by phase and in the order that Rule::after gives; without rules that
  // follow no rule of their phase. Thread-safe; sorts them if rules were added since the last call.
  llvm::ArrayRef<const Rule*> RulesOf(llvm::StringRef optimizer) const;

  // The strings in `pass` or `rule` must outlive the registry and its copies. Errors: a name
  // that is taken, a rule whose context type belongs to another optimizer.
  Error Add(Entry pass);
  Error Add(Rule rule);
  // An error if a plugin registered a rule for an optimizer that does not exist, for a phase that
  // the optimizer does not have, with a pattern that cannot be parsed, or one that follows no rule
  // of its phase or, through others, itself. It names the file.
  Error CheckPlugins() const;

  // A pass, or one rule of it alone.
  struct Choice {
    const Entry* pass;
    std::string rule;  // empty: all
  };
  // Finds "pass" or "pass/rule"; the pass may have either of its names. The error suggests similar
  // names.
  Expected<Choice> Choose(llvm::StringRef name) const;
  // Succeeds if `name` is a pass, a rule or step of some pass, or "pass/rule". The error suggests
  // similar names.
  Error CheckRuleExists(llvm::StringRef name) const;

 private:
  std::vector<std::shared_ptr<const Entry>> passes_;  // in registration order
  std::vector<std::shared_ptr<const Rule>> rules_;
  struct RulesOfOne {
    std::vector<const Rule*> registered, ordered;  // `ordered`: empty until it is needed
  };
  mutable std::map<std::string, RulesOfOne, std::less<>> rules_of_;  // by optimizer
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_REGISTRY_H_
