// What the memory optimizer is asked for; its rules are one file each.
#ifndef GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_
#define GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_

#include <string>

#include "lib/pass/rule.h"

namespace grapnel::memory_optimizer {

struct Wanted {
  bool anything = false;           // false: so is all else
  bool recomputes_hinted = false;  // nodes with the attribute _recompute_hint
  bool recomputes_cheap = false;   // and all that cost little
  bool swaps = false;              // inputs that the attribute _swap_to_host names
  std::string scope;               // of the nodes that read what is computed again: the gradients
};
Wanted WantedOf(const proto::RewriterConfig& config);

}  // namespace grapnel::memory_optimizer

#endif  // GRAPNEL_PASSES_MEMORY_OPTIMIZER_MEMORY_OPTIMIZER_H_
