// Plugins that cannot be loaded: CMake compiles one for each FAULT.
#include <stdexcept>

#include "grapnel/pass/rule.h"
#include "grapnel/support/plugin.h"

#if FAULT != 1  // no plugin
GRAPNEL_PLUGIN("faults"
#if FAULT == 2  // Start refuses
               ,
               [] { return grapnel::MakeError("there is no {0} here", "license"); }
#elif FAULT == 3  // Start throws
               ,
               []() -> llvm::Error { throw std::runtime_error("start threw this"); }
#endif
);
#endif

namespace grapnel {
void NotThere(int);  // FAULT 4: a name that the program does not have
}

namespace {

using namespace grapnel;

[[maybe_unused]] Verdict DoNothing(RuleContext& rule, const Node&) { return rule.NotMine(); }

#if FAULT == 4
[[maybe_unused]] const bool called = (NotThere(1), true);
#elif FAULT == 5  // a constructor throws
[[maybe_unused]] const bool thrown = [] {
  throw std::runtime_error("a constructor threw this");
  return true;
}();
#elif FAULT == 6  // there is no such rule to follow
GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "remove_involutions",
              .name = "mine",
              .ops = {"Neg"},
              .help = "",
              .apply = DoNothing});
#elif FAULT == 7  // there is no such optimizer
GRAPNEL_RULE({.optimizer = "arithmetic_optimizr",
              .name = "mine",
              .ops = {"Neg"},
              .help = "",
              .apply = DoNothing});
#elif FAULT == 8  // there is such a pass
GRAPNEL_OPTIMIZER((PassInfo{.name = "model_pruner", .help = ""}));
#endif

}  // namespace
