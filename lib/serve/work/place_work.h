// Placements that the page asks for.
#ifndef GRAPNEL_LIB_SERVE_WORK_PLACE_WORK_H_
#define GRAPNEL_LIB_SERVE_WORK_PLACE_WORK_H_

#include <string>

#include "lib/serve/pages/page_set.h"

namespace grapnel {

// `request`: {"devices": "cpu:2", "soft": true}. Places the main graph and adds the placement to
// `pages`: {"entry", "title", "crossings", "devices": [{"device", "nodes", "weights", "peak"}]};
// of a graph that cannot be placed {"failure": [lines]}. No file is read, whatever the devices are
// called. Errors: the request or the devices cannot be read, the graph is not valid.
Expected<std::string> PlaceFromPage(PageSet& pages, std::shared_ptr<const OpenedGraph> opened,
                                    llvm::StringRef request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_PLACE_WORK_H_
