// Finds the nodes that compute a value from constants alone, which a rewrite may have folded.
#ifndef GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_
#define GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_

#include <vector>

#include "lib/diff/matching.h"

namespace grapnel {

constexpr size_t kLargestRegion = 64;  // the most nodes of one fusion or one folded value

struct ConstantCone {
  bool is_one = false;
  std::vector<int32_t> known;  // constants in the cone that have partners
};
// Examines the cone (all nodes that the value depends on) of a node without a partner in the other
// graph. `is_one` is true if the value depends only on constants: the cone has no placeholders,
// arguments or state, and only constants in it have partners. Linear in the cone, at most
// kLargestRegion nodes.
ConstantCone ConstantConeOf(const Side& side, int32_t node);

// Returns the inputs of `node`, in order, that are computed only from constants without a partner.
std::vector<int32_t> FreeConstantsOf(const Side& side, int32_t node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_
