// Branches that nobody could tell apart. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_FLOW_TWINS_H_
#define GRAPNEL_LIB_RENDER_FLOW_TWINS_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_parts.h"

namespace grapnel {

// Members, and instead of at least four chains that read the same and are read by the same, of the
// same members in the same order, one member for all of them.
struct Duplicates {
  std::vector<FlowMember> members;
  FlowEdges edges;
  // By member here: the one that was given, the first one of duplicates; and the chains of duplicates.
  std::vector<uint32_t> given;
  std::vector<std::vector<std::vector<uint32_t>>> chains;
};

// n log n in members and edges.
Duplicates JoinDuplicates(llvm::ArrayRef<FlowMember> members, FlowEdges edges);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_TWINS_H_
