// Joins indistinguishable branches. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_
#define GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_parts.h"

namespace grapnel {

// The members after joining: at least four chains that have the same readers and the same inputs,
// and whose members have equal structures in the same order, become one member.
struct Duplicates {
  std::vector<FlowMember> members;
  FlowEdges edges;
  // By index in `members`: the original member (for joined chains the first member of the first
  // chain), and the joined chains, if any.
  std::vector<uint32_t> given;
  std::vector<std::vector<std::vector<uint32_t>>> chains;
};

// Takes O(n log n) in members and edges.
Duplicates JoinDuplicates(llvm::ArrayRef<FlowMember> members, FlowEdges edges);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_
