// A placement as JSON.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_JSON_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_JSON_H_

#include <string>

#include "lib/place/cost_report.h"
#include "lib/place/explanation.h"
#include "lib/place/placement_report.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// As attributes of an object that is open: "placements": {node: device}, "error": null or text,
// "requested": {...}, "conflict": [...] and, with a report, "crossings", "islands" and "memory";
// with a cost, "cost". `logged`: by id, what a log says; may be empty. Also of a graph that could
// not be placed, then without the reports.
void WritePlacementJson(llvm::json::OStream& json, const PlacementContext& context,
                        llvm::ArrayRef<std::string> logged, const PlacementReport* report,
                        const CostReport* cost);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_JSON_H_
