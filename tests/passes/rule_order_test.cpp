// The order of the rules of each optimizer.
#include <gtest/gtest.h>

#include <set>

#include "lib/pass/registry.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

// rule_order.txt is the order in which TensorFlow tries the rules. It changes with a new rule only.
TEST(RuleOrder, IsTensorFlows) {
  const PassRegistry& registry = PassRegistry::Get();
  std::vector<std::string> optimizers;
  for (const PassRegistry::Entry* pass : registry.Passes()) optimizers.push_back(pass->info.name);
  llvm::sort(optimizers);
  std::string order;
  for (const std::string& optimizer : optimizers)
    for (const Rule* rule : registry.RulesOf(optimizer))
      order += optimizer + "/" + rule->name + "\n";
  auto expected = llvm::cantFail(FileBytes::Open("tests/passes/rule_order.txt"));
  EXPECT_EQ(order, expected->bytes().str());
}

TEST(RuleOrder, OnlyOneRuleOfTheProgramFollowsAnother) {
  for (const PassRegistry::Entry* pass : PassRegistry::Get().Passes()) {
    std::set<std::pair<int, std::string>> followed;
    for (const Rule* rule : PassRegistry::Get().RulesOf(pass->info.name)) {
      if (!*rule->plugin && rule->after)
        EXPECT_TRUE(followed.emplace(rule->phase, rule->after).second)
            << pass->info.name << ": two rules follow '" << rule->after << "'";
    }
  }
}

Verdict DoNothing(RuleContext& rule, const Node&) { return rule.NotMine(); }

Rule RuleOf(const char* name, const char* after, int phase = 0) {
  return {.optimizer = "mine",
          .phase = phase,
          .after = after,
          .name = name,
          .help = "",
          .apply = DoNothing};
}

std::string OrderOf(llvm::ArrayRef<Rule> rules) {
  PassRegistry registry;
  for (const Rule& rule : rules) llvm::cantFail(registry.Add(rule));
  std::string order;
  for (const Rule* rule : registry.RulesOf("mine")) order += rule->name;
  return order;
}

TEST(RuleOrder, DoesNotDependOnTheOrderOfRegistration) {
  EXPECT_EQ(OrderOf({RuleOf("c", "b"), RuleOf("a", kFirst), RuleOf("b", "a")}), "abc");
  EXPECT_EQ(OrderOf({RuleOf("d", nullptr), RuleOf("b", "a"), RuleOf("a", kFirst)}), "abd");
  EXPECT_EQ(OrderOf({RuleOf("d", kFirst, 1), RuleOf("a", kFirst), RuleOf("e", "d", 1)}), "ade");
}

TEST(RuleOrder, LaterRegistrationsComeCloserToTheRuleThatTheyFollow) {
  EXPECT_EQ(OrderOf({RuleOf("a", kFirst), RuleOf("b", "a"), RuleOf("x", "a"), RuleOf("y", "x")}),
            "axyb");
  EXPECT_EQ(OrderOf({RuleOf("d", nullptr), RuleOf("e", nullptr), RuleOf("x", "d")}), "dxe");
}

TEST(RuleOrder, RulesOfPluginsMustFollowARuleOfTheirPhase) {
  auto error_of = [](std::vector<Rule> rules) {
    PassRegistry registry = PassRegistry::Get();
    for (Rule& rule : rules) {
      rule.optimizer = "layout";
      rule.plugin = "p.so";
      llvm::cantFail(registry.Add(std::move(rule)));
    }
    return TextOf(registry.CheckPlugins());
  };
  EXPECT_EQ(error_of({RuleOf("x", "convert_sensitive")}), "");
  EXPECT_EQ(error_of({RuleOf("x", "cancel_pair", 2), RuleOf("y", "x", 2)}), "");
  EXPECT_EQ(error_of({RuleOf("x", "convert_sensitiv")}),
            "p.so: rule 'x': rule 'convert_sensitiv' not found; did you mean 'convert_sensitive'? "
            "(`grapnel passes` lists them)");
  EXPECT_EQ(error_of({RuleOf("x", "convert_sensitive", 1)}),
            "p.so: rule 'x': rule 'convert_sensitive' not found; there are 'convert_agnostic', 'x' "
            "(`grapnel passes` lists them)");
  EXPECT_EQ(error_of({RuleOf("x", nullptr, 7)}),
            "p.so: rule 'x': pass 'layout' has no phase 7; it has 0 to 3 (`grapnel passes` lists "
            "them)");
  EXPECT_EQ(
      error_of({RuleOf("x", "y"), RuleOf("y", "x")}),
      "p.so: rule 'x': it follows 'y', which follows it in turn or has no place itself (`grapnel "
      "passes` lists them)");
}

}  // namespace
}  // namespace grapnel
