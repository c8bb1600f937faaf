// Finds the nodes that compute a value from constants alone, which a rewrite may have folded.
#ifndef GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_
#define GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_

#include <vector>

#include "lib/diff/matching.h"

namespace grapnel {

constexpr size_t kLargestRegion = 64;  // limit for one fusion or folding

struct ConstantCone {
  bool is_one = false;
  std::vector<int32_t> known;  // its constants that have partners
};
// Returns the cone of a free node: everything it is computed from. It is one only without feeds,
// arguments and state, and if no node in it has a partner except constants. Linear in the cone, of
// kLargestRegion nodes at most.
ConstantCone ConstantConeOf(const Side& side, int32_t node);

// Inputs of `node` that are constant cones made only of free constants, in order.
std::vector<int32_t> FreeConstantsOf(const Side& side, int32_t node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_
