// Common code of place_work.h and log_work.h: requests to place a graph.
#ifndef GRAPNEL_LIB_SERVE_WORK_PLACE_REQUEST_H_
#define GRAPNEL_LIB_SERVE_WORK_PLACE_REQUEST_H_

#include <memory>
#include <string>

#include "lib/job/place.h"
#include "lib/serve/pages/page.h"

namespace grapnel {

struct PlaceAsked {
  PlacerSettings settings;
  std::string what_if;
  std::string log;  // the name of the log, for LogFromPage
};

// Parses the JSON that place_work.h and log_work.h describe. Errors: invalid JSON, no devices.
Expected<PlaceAsked> ParsePlaceRequest(llvm::StringRef text);

// Returns the graph of a page. If it is a dump in a served folder, reads the dump again. Errors:
// the page's graph is not from a file, the dump cannot be read.
Expected<std::shared_ptr<const OpenedGraph>> OpenToPlace(const Page& page);

// Writes text, as a command prints it, as an array of lines.
void WriteLines(llvm::StringRef key, llvm::StringRef text, llvm::json::OStream& json);

// Returns {"failure": lines, "moves": lines}, for a graph that cannot be placed.
std::string FailureJson(const PlacementContext& context, llvm::StringRef moves);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_PLACE_REQUEST_H_
