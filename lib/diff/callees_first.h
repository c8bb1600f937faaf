// The order in which what is known of a function is known to those that call it.
#ifndef GRAPNEL_LIB_DIFF_CALLEES_FIRST_H_
#define GRAPNEL_LIB_DIFF_CALLEES_FIRST_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Bodies, 0 the main graph and i + 1 the function i, each after those that it calls; where
// functions call one another in a circle, one of them comes before. Linear.
std::vector<int32_t> CalleesFirst(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_CALLEES_FIRST_H_
