// The parts of the memory optimizer, one file each. Each returns false when --limit is used up.
#ifndef GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_
#define GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_

#include "lib/pass/editor.h"

namespace grapnel::memory_optimizer {

// `only_hinted`: nodes with the attribute _recompute_hint, and no others. `scope`: of the nodes
// that read what is computed again, the gradients.
bool Recompute(Editor& edit, bool only_hinted, const std::string& scope);
// Inputs that the attribute _swap_to_host names.
bool SwapToHost(Editor& edit);
bool RelaxAllocatorConstraints(Editor& edit);

}  // namespace grapnel::memory_optimizer

#endif  // GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_
