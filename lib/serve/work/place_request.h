// Common code of requests to place a graph.
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
  std::string log;  // the log's name
};

// Parses the JSON that place_work.h and log_work.h describe. Errors: invalid JSON, no devices.
Expected<PlaceAsked> ParsePlaceRequest(llvm::StringRef text);

// Returns the graph of a page: of a file, or of a dump in a served folder, read again. Errors: the
// page is not a graph of a file, the dump cannot be read.
Expected<std::shared_ptr<const OpenedGraph>> OpenToPlace(const Page& page);

// Writes lines, as a command prints them, as an array.
void WriteLines(llvm::StringRef key, llvm::StringRef text, llvm::json::OStream& json);

// {"failure": lines, "moves": lines}, for a graph that cannot be placed.
std::string FailureJson(const PlacementContext& context, llvm::StringRef moves);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_PLACE_REQUEST_H_
