// Joins indistinguishable branches. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_
#define GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_parts.h"

namespace grapnel {

// Members after joining: at least four chains with the same readers, the same inputs and the same
// members in the same order become one member.
struct Duplicates {
  std::vector<FlowMember> members;
  FlowEdges edges;
  // By member here: the original member, the first one for duplicates; and the duplicates' chains.
  std::vector<uint32_t> given;
  std::vector<std::vector<std::vector<uint32_t>>> chains;
};

// Takes n log n in members and edges.
Duplicates JoinDuplicates(llvm::ArrayRef<FlowMember> members, FlowEdges edges);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_DUPLICATES_H_
