// Takes out of loops and branches what never runs, and stacks that nobody reads.
//
//   Before:  true, x -> Switch -> :0 -> Exp               After:  x, ^true -> Identity -> Sin
//                              -> :1 -> Sin -> Merge -> y              -> Identity -> y
//
// Runs once.
//
// Refuses: Switches that are fetched or kept, branches that hold what must stay, Merges of which
// somebody reads which branch it was, stacks that are popped.
#include "lib/pass/rule.h"

namespace grapnel {

GRAPNEL_OPTIMIZER((PassInfo{.name = "loop_optimizer",
                            .config_name = "loop",
                            .order = 14,
                            .default_on = true,
                            .run_once = true,
                            .toggle = "loop_optimization",
                            .help = "removes branches and loops that never run, and pushes on "
                                    "stacks that nobody pops",
                            .refuses = "branches that hold what is fetched or kept, Merges whose "
                                       "choice is read, stacks that are popped"}));

}  // namespace grapnel
