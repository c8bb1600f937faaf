// What a placement would take, as tables and as JSON.
#ifndef GRAPNEL_LIB_PLACE_COST_TEXT_H_
#define GRAPNEL_LIB_PLACE_COST_TEXT_H_

#include <string>

#include "lib/place/cost_report.h"
#include "lib/place/explanation.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Devices, links, and the chain of nodes that the time is made of, its longest steps.
std::string CostTables(const PlacementContext& context, const CostReport& report);

// "total_ns", "devices", "links", "path" and "unknown", as members of the object that is open; all
// times are nanoseconds.
void WriteCostJson(llvm::json::OStream& json, const PlacementContext& context,
                   const CostReport& report);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_COST_TEXT_H_
