// Places graphs for the page.
#ifndef GRAPNEL_LIB_SERVE_WORK_PLACE_WORK_H_
#define GRAPNEL_LIB_SERVE_WORK_PLACE_WORK_H_

#include <string>

#include "lib/serve/pages/page_set.h"

namespace grapnel {

// Places the main graph of `page` and adds a page with the placement to `pages`. `request` has the
// flags of `grapnel place`: {"devices": "cpu:2", "hard": false, "default_device": "", "kernels":
// "tensorflow", "what_if": "cpu:1"}; all but "devices" may be left out. Returns {"entry", "title",
// "crossings", "devices": [{"device", "nodes", "weights", "peak"}], "report": [lines], "moves":
// [lines]}; for a graph that cannot be placed {"failure": [lines], "moves": [lines]}. The result
// has "moves" if the request has "what_if". Never reads devices from a file, even if they look like
// a path. Errors: the request or the devices cannot be read, the graph is not valid, the page's
// graph is not from a file.
Expected<std::string> PlaceFromPage(PageSet& pages, const Page& page, llvm::StringRef request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_PLACE_WORK_H_
