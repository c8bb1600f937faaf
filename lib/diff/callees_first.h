// Orders functions so that callees come before their callers.
#ifndef GRAPNEL_LIB_DIFF_CALLEES_FIRST_H_
#define GRAPNEL_LIB_DIFF_CALLEES_FIRST_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Returns the indices of all bodies, 0 for the main graph and i + 1 for function i, each after the
// bodies of the functions it calls. If functions call one another in a cycle, at least one of them
// comes before a function that it calls. Linear.
std::vector<int32_t> CalleesFirst(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_CALLEES_FIRST_H_
