// A placement as tables, and what changes between two. Of a complete one, but for MovesText.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_

#include <string>
#include <vector>

#include "lib/place/explanation.h"
#include "lib/place/placement_report.h"

namespace grapnel {

// By scope and device, then what crosses, islands, memory.
std::string PlacementTables(const PlacementContext& context, const PlacementReport& report);

// A row a node: requested, assigned, why; and what `logged` (by id; may be empty) says.
std::string NodeTable(const PlacementContext& context, llvm::ArrayRef<std::string> logged);

// What moves from one placement of a graph to another; titles are what to call them.
std::string MovesText(const PlacementContext& before, const std::string& before_title,
                      const PlacementContext& after, const std::string& after_title);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_
