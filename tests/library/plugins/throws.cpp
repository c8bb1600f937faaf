// Passes, rules and a kernel that fail in every way: exceptions and errors cross from the plugin to
// the program.
#include <stdexcept>

#include "grapnel/exec/kernel.h"
#include "grapnel/pass/rule.h"
#include "grapnel/support/plugin.h"

GRAPNEL_PLUGIN("throws");

namespace {

using namespace grapnel;

class Thrower : public GraphPass {
 public:
  Error Run(Editor&) override { throw std::runtime_error("a pass threw this"); }
};
class Failer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    return MakeError("a pass refused {0} nodes", edit.graph().num_nodes());
  }
};
GRAPNEL_PASS(Thrower, (PassInfo{.name = "thrower", .help = "throws"}));
GRAPNEL_PASS(Failer, (PassInfo{.name = "failer", .help = "fails"}));

Verdict ThrowAtNode(RuleContext&, const Node& node) { throw std::runtime_error(node.name().str()); }
GRAPNEL_OPTIMIZER((PassInfo{.name = "throwing_rules", .help = "has a rule that throws"}));
GRAPNEL_RULE({.optimizer = "throwing_rules",
              .name = "throw_at_node",
              .ops = {"Neg"},
              .help = "throws the name of a Neg",
              .apply = ThrowAtNode});

// The same in an optimizer of grapnel's own.
GRAPNEL_RULE({.optimizer = "debug_stripper",
              .name = "throw_as_guest",
              .ops = {"Neg"},
              .help = "throws the name of a Neg",
              .apply = ThrowAtNode});

// Replaces the program's kernel.
Expected<KernelFn> MakeThrower(const KernelSetup&) {
  return KernelFn([](KernelContext&) -> Error { throw std::runtime_error("a kernel threw this"); });
}
GRAPNEL_CPU_KERNEL("Asinh", MakeThrower);
Expected<KernelFn> MakeRefuser(const KernelSetup& setup) {
  return MakeError("no code for '{0}'", setup.node().name());
}
GRAPNEL_CPU_KERNEL("Acosh", MakeRefuser);
Expected<KernelFn> ThrowInFactory(const KernelSetup&) { throw 7; }
GRAPNEL_CPU_KERNEL("Atanh", ThrowInFactory);

}  // namespace
