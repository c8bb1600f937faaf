// Every pass and rule that the program has, by name.
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

// The program's is filled before main() begins and by plugins, and only read from then on. Who has
// passes for one run alone adds them to a copy of it (OptimizeOptions::registry).
class GRAPNEL_PUBLIC PassRegistry {
 public:
  static PassRegistry& Get();

  struct Entry {
    PassInfo info;
    std::function<std::unique_ptr<GraphPass>()> make;
    std::vector<PassStep> steps;
    const char* plugin = "";  // the file that it came with; "": the program's own
  };
  // Sorted by order, then name.
  std::vector<const Entry*> Passes() const;
  // By name or config_name; null when there is none.
  const Entry* Find(llvm::StringRef name) const;
  // What a pass reports: its rules and steps, sorted by name.
  std::vector<PassStep> ReportedBy(const Entry& pass) const;
  // The rules of an optimizer, in their places.
  llvm::ArrayRef<const Rule*> RulesOf(llvm::StringRef optimizer) const;

  // Their text must outlive the registry and its copies. Errors: a name or a place that is taken,
  // a rule that takes the context of another optimizer.
  Error Add(Entry pass);
  Error Add(Rule rule);
  // Of what came with files: a rule of an optimizer that there is not. The error names the file.
  Error CheckPlugins() const;

  // A pass, or one rule of it alone.
  struct Choice {
    const Entry* pass;
    std::string rule;  // empty: all
  };
  // By "pass" or "pass/rule", the pass under either of its names. The error says what is near.
  Expected<Choice> Choose(llvm::StringRef name) const;
  // Whether "pass", "rule" or "pass/rule" is what some pass reports. The error says what is near.
  Error CheckRuleExists(llvm::StringRef name) const;

 private:
  std::vector<std::shared_ptr<const Entry>> passes_;  // as they came
  std::vector<std::shared_ptr<const Rule>> rules_;
  std::map<std::string, std::vector<const Rule*>, std::less<>> rules_of_;  // by place
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_REGISTRY_H_
