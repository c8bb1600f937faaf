// What a body computes from constants alone, as a rewrite may have folded it.
#ifndef GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_
#define GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_

#include <vector>

#include "lib/diff/matching.h"

namespace grapnel {

constexpr size_t kLargestRegion = 64;  // no fusion and no folding takes in more

struct ConstantCone {
  bool is_one = false;
  std::vector<int32_t> known;  // of its constants, those that have partners
};
// Of a free node with all that it is made of: nothing that is fed, handed in or kept elsewhere, and
// nothing that has a partner but constants. Linear in the cone, of kLargestRegion nodes at most.
ConstantCone ConstantConeOf(const Side& side, int32_t node);

// Inputs of `node` that are such, made of free constants alone; in their order.
std::vector<int32_t> FreeConstantsOf(const Side& side, int32_t node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_
