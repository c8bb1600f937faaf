// Checks in release builds what RegisterRule asserts in debug builds.
#include <gtest/gtest.h>

#include "lib/pass/registry.h"

namespace grapnel {
namespace {

TEST(RulePlaces, EachRuleOfAnOptimizerHasOneOfItsOwn) {
  const PassRegistry& registry = PassRegistry::Get();
  size_t rules = 0;
  for (const PassRegistry::Entry* pass : registry.Passes()) {
    const Rule* before = nullptr;
    for (const Rule* rule : registry.RulesOf(pass->info.name)) {
      EXPECT_TRUE(!before || before->place < rule->place)
          << pass->info.name << ": " << before->name << " and " << rule->name << " both have place "
          << rule->place;
      before = rule;
      ++rules;
    }
  }
  EXPECT_GT(rules, 100u);
}

}  // namespace
}  // namespace grapnel
