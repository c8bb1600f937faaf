// Passes and rules: the two bases, and how each registers itself.
#ifndef GRAPNEL_LIB_PASS_PASS_H_
#define GRAPNEL_LIB_PASS_PASS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/pass/editor.h"

namespace grapnel {

// A pass sees the whole graph. A fresh instance runs each time. It wraps each rewrite in
// edit.Begin(rule, node) / edit.End() and says edit.Refuse(rule, node, why) where a pattern matched
// and a condition failed.
class GraphPass {
 public:
  virtual ~GraphPass() = default;
  virtual Error Run(Editor& edit) = 0;
};

// What a rule says of a node.
struct Verdict {
  enum Kind { kNotMine, kRefused, kDone } kind;
};

// A rule looks at one node and rewrites around it. It runs on every node, and again on what a
// rewrite touched, until nothing fires. It changes the graph only on the way to Done().
class Rule {
 public:
  virtual ~Rule() = default;
  // Ops that Apply is called for; empty: all.
  virtual std::vector<llvm::StringRef> ops() const { return {}; }
  virtual Verdict Apply(const Node& node, Editor& edit) const = 0;

 protected:
  static Verdict NotMine() { return {Verdict::kNotMine}; }
  static Verdict Done() { return {Verdict::kDone}; }
  template <typename... Args>
  Verdict Refuse(Editor& edit, const Node& node, const char* format, Args&&... args) const {
    edit.Refuse(name, node, format, std::forward<Args>(args)...);
    return {Verdict::kRefused};
  }

 public:
  std::string name;  // set by the registry: the part after the slash
};

// When a pass runs. TensorFlow's order, toggles and names: MetaOptimizer of 2.21.
struct PassInfo {
  const char* name;         // as in dumps and --passes: "model_pruner"
  const char* config_name;  // in RewriterConfig.optimizers ("pruning"); also taken by --passes
  int order;                // place in the default pipeline, TensorFlow's numbering; 0: not in it
  bool default_on;          // false: only when the RewriterConfig or --passes asks
  bool run_once;            // only in the first iteration
  const char* toggle;   // field of RewriterConfig that switches it, or several ("a,b"), of which
                        // each must; "" for none
  const char* help;     // what it does, one line
  const char* refuses;  // what it leaves alone, one line
};

struct RuleInfo {
  const char* name;  // "pass/rule" for a Rule of its own; a GraphPass lists the rules it reports in
                     // its registration
  const char* help;
};

class PassRegistry {
 public:
  static PassRegistry& Get();
  bool AddPass(PassInfo info, std::unique_ptr<GraphPass> (*make)(), std::vector<RuleInfo> rules);
  bool AddRule(RuleInfo info, std::unique_ptr<Rule> (*make)());

  struct Entry {
    PassInfo info;
    std::unique_ptr<GraphPass> (*make)();
    std::vector<RuleInfo> rules;  // sorted by name
  };
  // Sorted by order, then name.
  std::vector<const Entry*> Passes() const;
  // By name or config_name; null when there is none.
  const Entry* Find(llvm::StringRef name) const;
  // A pass by name, config name, or "pass/rule" for one rule alone. The error says what is near.
  Expected<std::unique_ptr<GraphPass>> Make(llvm::StringRef name) const;
  // Whether "pass", "rule" or "pass/rule" is what some pass reports. The error says what is near.
  Error DemandRule(llvm::StringRef name) const;
  // Every rule registered with AddRule under "folder/", by name.
  std::vector<std::unique_ptr<Rule>> MakeRules(llvm::StringRef folder) const;

 private:
  struct RuleEntry {
    RuleInfo info;
    std::unique_ptr<Rule> (*make)();
  };
  std::vector<Entry> passes_;
  std::vector<RuleEntry> rules_;
};

// A pass that runs rules from a worklist until none fires: cost follows the changes.
std::unique_ptr<GraphPass> MakeRulePass(std::vector<std::unique_ptr<Rule>> rules);

// At namespace scope:
//   GRAPNEL_PASS(ModelPruner, PassInfo{"model_pruner", ...}, {"drop_unreachable", "removes ..."},
//   {...});
#define GRAPNEL_PASS(type, info, ...)                                                         \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(pass_registered_, __COUNTER__) =          \
      ::grapnel::PassRegistry::Get().AddPass(                                                 \
          info,                                                                               \
          []() -> std::unique_ptr<::grapnel::GraphPass> { return std::make_unique<type>(); }, \
          {__VA_ARGS__})

// A folder of rules as one pass: GRAPNEL_RULE_PASS((PassInfo{"arithmetic_optimizer", ...}),
// "arithmetic");
#define GRAPNEL_RULE_PASS(info, folder)                                                       \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(pass_registered_, __COUNTER__) =          \
      ::grapnel::PassRegistry::Get().AddPass(                                                 \
          info,                                                                               \
          []() {                                                                              \
            return ::grapnel::MakeRulePass(::grapnel::PassRegistry::Get().MakeRules(folder)); \
          },                                                                                  \
          {})

//   GRAPNEL_RULE(RemoveInverseTranspose, "arithmetic/remove_inverse_transpose", "removes a
//   transpose that ...");
#define GRAPNEL_RULE(type, name, help)                                               \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(rule_registered_, __COUNTER__) = \
      ::grapnel::PassRegistry::Get().AddRule(                                        \
          {name, help},                                                              \
          []() -> std::unique_ptr<::grapnel::Rule> { return std::make_unique<type>(); })

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_PASS_H_
