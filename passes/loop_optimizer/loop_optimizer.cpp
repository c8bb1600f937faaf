// Removes branches and loop bodies that never run, and pushes on stacks that are never popped.
//
//   Before:  true, x -> Switch -> :0 -> Exp               After:  x, ^true -> Identity -> Sin
//                              -> :1 -> Sin -> Merge -> y              -> Identity -> y
//
// Runs once.
//
// Refuses: Switches and stacks that are fetched, fed or kept, branches with nodes that must stay,
// Merges whose branch index is read, stacks that are popped; see also the rules.
#include "lib/pass/rule.h"

namespace grapnel {

GRAPNEL_OPTIMIZER((PassInfo{
    .name = "loop_optimizer",
    .config_name = "loop",
    .order = 14,
    .default_on = true,
    .run_once = true,
    .toggle = "loop_optimization",
    .help = "removes branches and loops that never run, and pushes on "
            "stacks that are never popped",
    .refuses = "Switches and stacks that are fetched, fed or kept, branches with nodes that must "
               "stay, Merges whose branch index is read, stacks that may be popped"}));

}  // namespace grapnel
