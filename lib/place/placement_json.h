// Writes a placement as JSON.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_JSON_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_JSON_H_

#include <string>

#include "lib/place/cost_report.h"
#include "lib/place/explanation.h"
#include "lib/place/log_reason.h"
#include "lib/place/placement_report.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// The log's entries for the graph.
struct LogFindings {
  const PlacementLog& log;
  const LogOfGraph& logged;
  const GraphStory& story;
};

// Optional parts of the document; null parts are left out.
struct PlacementExtras {
  const LogFindings* log = nullptr;
  const PlacementReport* report = nullptr;
  const CostReport* cost = nullptr;
  llvm::ArrayRef<std::string> assumed;  // arguments without a device in the graph
};

// Writes these attributes into the open object: "placements": {node: device}, "error": null or
// text, "requested": {node: device}. For a graph that could not be placed, also "conflict": [node]
// and "advice": [text]; with assumed arguments, "assumed"; with a report, "crossings", "islands"
// and "memory"; with a cost, "cost"; with a log, "logged" and "log". A report or a cost requires a
// complete placement.
void WritePlacementJson(llvm::json::OStream& json, const PlacementContext& context,
                        const PlacementExtras& extras);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_JSON_H_
