// Joins duplicate branches of the data flow: chains of equal structure with the same inputs and
// readers. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_
#define GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_parts.h"

namespace grapnel {

// The members after joining. Four or more chains become one member if they have the same inputs and
// the same readers, and their members have equal structures in the same order.
struct Duplicates {
  std::vector<FlowMember> members;
  FlowEdges edges;
  // By index in `members`: the index of the original member (for joined chains, of the first
  // chain's first member), and the chains that were joined, if any, as lists of original indices.
  std::vector<uint32_t> given;
  std::vector<std::vector<std::vector<uint32_t>>> chains;
};

// Takes O(n log n) time in members and edges.
Duplicates JoinDuplicates(llvm::ArrayRef<FlowMember> members, FlowEdges edges);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_
