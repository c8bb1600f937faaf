// Trades time for memory in training: computes values again instead of keeping them, or keeps them
// on the host. memory_optimization says what:
//
//   DEFAULT_MEM_OPT          inputs marked _swap_to_host are swapped
//   MANUAL                   also, nodes marked _recompute_hint are computed again
//   RECOMPUTATION_HEURISTICS cheap nodes are computed again; nothing is swapped
//   SWAPPING_HEURISTICS      as DEFAULT_MEM_OPT
//   HEURISTICS               cheap nodes are computed again, marked inputs are swapped
//
// Asked for by name in `optimizers`, it is MANUAL, as in TensorFlow. What TensorFlow swaps or
// orders anew because a GPU's memory would not do is left: a graph does not say how much memory
// there is.
//
// Refuses: see the rules.
#include "passes/memory_optimizer/memory_optimizer.h"

#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel::memory_optimizer {
namespace {

using proto::RewriterConfig;

class MemoryOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    const RewriterConfig& config = edit.config();
    bool is_by_name = llvm::any_of(config.optimizers(), [](const std::string& name) {
      return name == "memory" || name == "memory_optimizer";
    });
    auto level = is_by_name ? RewriterConfig::MANUAL : config.memory_optimization();
    if (level == RewriterConfig::NO_MEM_OPT) return Error::success();
    bool all =
        level == RewriterConfig::RECOMPUTATION_HEURISTICS || level == RewriterConfig::HEURISTICS;
    std::string scope = config.memory_optimizer_target_node_name_scope();
    if (scope.empty() || is_by_name) scope = "gradients/";
    if ((all || level == RewriterConfig::MANUAL) && !Recompute(edit, !all, scope))
      return Error::success();
    bool swaps = level != RewriterConfig::RECOMPUTATION_HEURISTICS &&
                 level != RewriterConfig::SCHEDULING_HEURISTICS;
    if (swaps && !SwapToHost(edit)) return Error::success();
    RelaxAllocatorConstraints(edit);
    return Error::success();
  }
};

GRAPNEL_PASS(MemoryOptimizer,
             (PassInfo{"memory_optimizer", "memory", 16, true, true, "memory_optimization",
                       "computes values again, or keeps them on the host, to save memory",
                       "what is not marked, unless memory_optimization asks for heuristics"}),
             {"recompute", "what gradients read is computed again from what is kept anyway"},
             {"swap_to_host", "an input that is marked waits on the host"},
             {"relax_allocator", "an Assign need not copy into memory that other devices reach"});

}  // namespace

bool RelaxAllocatorConstraints(Editor& edit) {
  constexpr const char* kAttr = "_grappler_relax_allocator_constraints";
  for (Node node : edit.graph().nodes()) {
    llvm::StringRef op = node.op();
    // Beyond this memory may have to be one that the network reaches.
    if (op == "_Send" || op == "_HostSend") break;
    if ((op != "Assign" && op != "AssignVariableOp") || node.FindAttr(kAttr)) continue;
    if (!edit.Begin("relax_allocator", node)) return false;
    edit.SetAttr(node, kAttr, attr::Bool(true));
    edit.End();
  }
  return true;
}

}  // namespace grapnel::memory_optimizer
