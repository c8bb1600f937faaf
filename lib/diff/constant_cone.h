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
// Examines the cone of a node (the node and all nodes that it depends on through data inputs).
// `is_one` is true if the node has no partner in the other graph and its value depends only on
// constants: the cone has at most kLargestRegion nodes, no placeholders, arguments, stateful ops or
// dangling inputs, and only constants in it have partners. Linear in the cone.
ConstantCone ConstantConeOf(const Side& side, int32_t node);

// Returns the inputs of `node`, in order, that are computed only from constants without a partner.
std::vector<int32_t> FreeConstantsOf(const Side& side, int32_t node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_CONSTANT_CONE_H_
