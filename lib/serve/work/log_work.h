// A log of placements that a reader of the page gives, beside the graph that is shown.
#ifndef GRAPNEL_LIB_SERVE_WORK_LOG_WORK_H_
#define GRAPNEL_LIB_SERVE_WORK_LOG_WORK_H_

#include <string>

#include "lib/serve/pages/page.h"

namespace grapnel {

// `request`: a line of JSON, {"name": "log.txt", "devices": "cpu:1", "hard": false,
// "default_device": "", "kernels": "tensorflow"}, and behind it the log as it is. Without devices
// the graph is placed on those that the log names. Gives what `grapnel place --log` tells:
//   "devices": on which the graph was placed
//   "problems": of the log, a sentence each; "unreadable": numbers of the first such lines
//   "notes": what had to be assumed, what else is in the log; "eager": lines
//   "graphs": of the main graph and of functions that stay calls in it, {"title", "summary": lines,
//     "recorded": the graph had been placed, "elsewhere", "explained", "gone": counts of rows,
//     "rows", "left_off": how many more there are}
//   a row: {"node", "op", "asked", "placed", "logged", "line", "why", "kind", "body", "id"}, those
//     that differ first; "kind": 1 on another device, 2 not in the log as it is here, 3 not in the
//     graph; "body" and "id": of a node of the page `shown`, which shows the graph
// Of a graph that cannot be placed {"failure": lines}. Errors: the request or the devices cannot be
// read, the graph is not valid, the page is no graph of a file.
Expected<std::string> LogFromPage(const Page& page, Page& shown, llvm::StringRef request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_LOG_WORK_H_
