// Writes a placement as tables, and the differences between two placements. Placements must be
// complete, except for MovesText.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_

#include <string>
#include <vector>

#include "lib/place/explanation.h"
#include "lib/place/placement_report.h"

namespace grapnel {

// Returns "GPU:0" if all devices are in one task, else the device's full name.
std::string ShortName(const DeviceSet& devices, int device);

// Returns tables of node counts by scope and device and by reason and device, then tables of
// transfers, islands (CPU nodes amid nodes of another device) and memory.
std::string PlacementTables(const PlacementContext& context, const PlacementReport& report);

// A table with a row for each node: requested device, assigned device, reason, and the entry of
// `logged`, the log's devices by node id, which may be empty.
std::string NodeTable(const PlacementContext& context, llvm::ArrayRef<std::string> logged);

// Lists the nodes whose devices differ between two placements of a graph, named by the titles.
std::string MovesText(const PlacementContext& before, const std::string& before_title,
                      const PlacementContext& after, const std::string& after_title);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_TEXT_H_
