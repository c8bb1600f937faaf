// What requests to place a graph have in common.
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
  std::string log;  // what the log is called
};

// Of the JSON that place_work.h and log_work.h describe. Errors: it is none, there are no devices.
Expected<PlaceAsked> ParsePlaceRequest(llvm::StringRef text);

// The graph of a page: of a file, or of a dump in a folder that is served, read again. Errors: the
// page is no graph of a file, the dump cannot be read.
Expected<std::shared_ptr<const OpenedGraph>> OpenToPlace(const Page& page);

// Lines as a command prints them, as an array.
void WriteLines(llvm::StringRef key, llvm::StringRef text, llvm::json::OStream& json);

// {"failure": lines, "moves": lines}; of a graph that cannot be placed.
std::string FailureJson(const PlacementContext& context, llvm::StringRef moves);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_PLACE_REQUEST_H_
