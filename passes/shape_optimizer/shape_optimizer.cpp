// Computes sizes of tensors directly, and their ratios.
//
//   Before:  x -> Shape s, [0] -> Prod p -> y          After:  x, ^s -> Size p -> y
//   Before:  Size(a), Size(b) -> Div d -> y            After:  Const d(^Size(a), ^Size(b)) -> y
//
// Refuses: see the rules.
#include "lib/pass/rule.h"

namespace grapnel {

GRAPNEL_OPTIMIZER((PassInfo{.name = "shape_optimizer",
                            .config_name = "shape",
                            .order = 8,
                            .default_on = true,
                            .toggle = "shape_optimization",
                            .help = "computes sizes of tensors directly, and their ratios",
                            .refuses = "products that keep dimensions; ratios of which unknown "
                                       "dimensions do not cancel"}));

}  // namespace grapnel
