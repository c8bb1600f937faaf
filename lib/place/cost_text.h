// Writes the cost of a placement as tables and as JSON.
#ifndef GRAPNEL_LIB_PLACE_COST_TEXT_H_
#define GRAPNEL_LIB_PLACE_COST_TEXT_H_

#include <string>

#include "lib/place/cost_report.h"
#include "lib/place/explanation.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Tables of devices, links, and the longest steps of the critical path.
std::string CostTables(const PlacementContext& context, const CostReport& report);

// Writes "total_ns", "devices", "links", "path" and "unknown" into the open object; all times are
// nanoseconds.
void WriteCostJson(llvm::json::OStream& json, const PlacementContext& context,
                   const CostReport& report);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_COST_TEXT_H_
