// Marks an Assign that need not copy into memory that other devices can access.
//
//   Before:  v, x -> Assign        After:  v, x -> Assign {_grappler_relax_allocator_constraints}
//
// Refuses: nodes after a send node, in file order: the memory may have to be accessible to the
// network.
#include "passes/memory_optimizer/memory_optimizer.h"

namespace grapnel::memory_optimizer {
namespace {

Verdict RelaxAllocator(RuleContext& rule) {
  constexpr const char* kAttr = "_grappler_relax_allocator_constraints";
  if (!WantedOf(rule.edit.config()).anything) return rule.NotMine();
  for (Node node : rule.graph.nodes()) {
    llvm::StringRef op = node.op();
    if (op == "_Send" || op == "_HostSend") break;
    if ((op != "Assign" && op != "AssignVariableOp") || node.FindAttr(kAttr)) continue;
    if (!rule.BeginAt(node)) break;
    rule.edit.SetAttr(node, kAttr, attr::Bool(true));
    rule.End();
  }
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "memory_optimizer",
              .after = "swap_to_host",
              .name = "relax_allocator",
              .ops = {},
              .help = "lets an Assign avoid a copy into memory that other devices can access",
              .refuses = "nodes after a send node",
              .apply = RelaxAllocator});

}  // namespace
}  // namespace grapnel::memory_optimizer
