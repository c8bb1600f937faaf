// Writes a placement as tables, and the differences of two. Placements must be complete, except for
// MovesText.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_

#include <string>
#include <vector>

#include "lib/place/explanation.h"
#include "lib/place/placement_report.h"

namespace grapnel {

// Tables by scope and device, then of transfers, islands and memory.
std::string PlacementTables(const PlacementContext& context, const PlacementReport& report);

// A row for each node: requested device, assigned device, reason, and the entry of `logged` (by id;
// may be empty).
std::string NodeTable(const PlacementContext& context, llvm::ArrayRef<std::string> logged);

// The nodes that move between two placements of a graph; titles name the placements.
std::string MovesText(const PlacementContext& before, const std::string& before_title,
                      const PlacementContext& after, const std::string& after_title);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_
