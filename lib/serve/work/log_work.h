// Compares a log of placements, which the user provides, with the graph that is shown.
#ifndef GRAPNEL_LIB_SERVE_WORK_LOG_WORK_H_
#define GRAPNEL_LIB_SERVE_WORK_LOG_WORK_H_

#include <string>

#include "lib/serve/pages/page.h"

namespace grapnel {

// `request`: a line of JSON, {"name": "log.txt", "devices": "cpu:1", "hard": false,
// "default_device": "", "kernels": "tensorflow"}, followed by the unchanged log. Without devices,
// places the graph on the devices in the log. Returns the results of `grapnel place --log`:
//   "devices": the devices on which the graph was placed
//   "problems": of the log, a sentence each; "unreadable": numbers of the first unreadable lines
//   "notes": assumptions, and other contents of the log; "eager": a table of eager ops, as lines
//   "graphs": for the main graph and the functions of its remaining calls, {"title", "summary":
//     lines, "recorded": true if the graph already had devices, "elsewhere", "explained", "gone":
//     counts of rows, "rows", "left_off": the number of further rows}
//   a row: {"node", "op", "asked", "placed", "logged", "line", "why", "kind", "body", "id"}, with
//     differences first; "kind": 1: on another device, 2: not in the log or with another op, 3:
//     not in the graph; "body" and "id": a node on the page `shown`, which shows the graph
// For a graph that cannot be placed {"failure": lines}. Errors: the request, the log or the devices
// cannot be read, the graph is not valid, the page's graph is not from a file.
Expected<std::string> LogFromPage(const Page& page, Page& shown, llvm::StringRef request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_LOG_WORK_H_
