// An Assign need not copy into memory that other devices reach.
//
//   Before:  v, x -> Assign        After:  v, x -> Assign {_grappler_relax_allocator_constraints}
//
// Refuses: whatever comes after a node that sends, in the order of the file: the memory may have to
// be one that the network reaches.
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
              .place = 3,
              .name = "relax_allocator",
              .ops = {},
              .help = "an Assign need not copy into memory that other devices reach",
              .refuses = "what comes after a node that sends",
              .apply = RelaxAllocator});

}  // namespace
}  // namespace grapnel::memory_optimizer
