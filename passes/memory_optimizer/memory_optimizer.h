// The settings of the memory optimizer; each of its rules has a file.
#ifndef GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_
#define GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_

#include <string>

#include "lib/pass/rule.h"

namespace grapnel::memory_optimizer {

struct Wanted {
  bool anything = false;           // false: all others are false too
  bool recomputes_hinted = false;  // nodes with the attribute _recompute_hint
  bool recomputes_cheap = false;   // and all cheap nodes
  bool swaps = false;              // swaps inputs that the attribute _swap_to_host names
  std::string scope;               // name scope of the gradients, which read recomputed values
};
Wanted WantedOf(const proto::RewriterConfig& config);

}  // namespace grapnel::memory_optimizer

#endif  // GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_
