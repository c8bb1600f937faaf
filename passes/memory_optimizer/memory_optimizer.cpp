// Trades time for memory in training: recomputes values instead of keeping them, or keeps them on
// the host, depending on memory_optimization:
//
//   DEFAULT_MEM_OPT          inputs marked _swap_to_host are swapped
//   MANUAL                   also, nodes marked _recompute_hint are recomputed
//   RECOMPUTATION_HEURISTICS marked and cheap nodes are recomputed; nothing is swapped
//   SWAPPING_HEURISTICS      as DEFAULT_MEM_OPT
//   SCHEDULING_HEURISTICS    nothing is recomputed or swapped
//   HEURISTICS               marked and cheap nodes are recomputed, marked inputs are swapped
//
// At every level except NO_MEM_OPT, relax_allocator marks Assigns. If `optimizers` names this pass,
// memory_optimization counts as MANUAL, as in TensorFlow. TensorFlow also swaps or reorders nodes
// when a GPU's memory would not suffice; this pass does not, because a graph does not say how much
// memory there is.
//
// Refuses: see the rules.
#include "passes/memory_optimizer/memory_optimizer.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel::memory_optimizer {

using proto::RewriterConfig;

Wanted WantedOf(const RewriterConfig& config) {
  bool is_by_name = llvm::any_of(config.optimizers(), [](const std::string& name) {
    return name == "memory" || name == "memory_optimizer";
  });
  auto level = is_by_name ? RewriterConfig::MANUAL : config.memory_optimization();
  Wanted wanted;
  if (level == RewriterConfig::NO_MEM_OPT) return wanted;
  wanted.anything = true;
  wanted.recomputes_cheap =
      level == RewriterConfig::RECOMPUTATION_HEURISTICS || level == RewriterConfig::HEURISTICS;
  wanted.recomputes_hinted = wanted.recomputes_cheap || level == RewriterConfig::MANUAL;
  wanted.swaps = level != RewriterConfig::RECOMPUTATION_HEURISTICS &&
                 level != RewriterConfig::SCHEDULING_HEURISTICS;
  wanted.scope = config.memory_optimizer_target_node_name_scope();
  if (wanted.scope.empty() || is_by_name) wanted.scope = "gradients/";
  return wanted;
}

GRAPNEL_OPTIMIZER((PassInfo{
    .name = "memory_optimizer",
    .config_name = "memory",
    .order = 16,
    .default_on = true,
    .run_once = true,
    .toggle = "memory_optimization",
    .help = "recomputes values, or keeps them on the host, to save "
            "memory",
    .refuses = "unmarked nodes, except for Assigns and, if memory_optimization is HEURISTICS or "
               "RECOMPUTATION_HEURISTICS, cheap nodes"}));

}  // namespace grapnel::memory_optimizer
