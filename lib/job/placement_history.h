// Reconstructs what passes did to a graph before it was dumped, to explain nodes that a placement
// log lacks.
#ifndef GRAPNEL_LIB_JOB_PLACEMENT_HISTORY_H_
#define GRAPNEL_LIB_JOB_PLACEMENT_HISTORY_H_

#include <string>

#include "lib/job/opened_graph.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// Returns the function name in a dump's file name, "__inference_f_29" for
// "__inference_f_29.0010.main.after_graph_optimization.pbtxt"; for other files,
// OpenedGraph::name().
std::string GraphNameOf(const OpenedGraph& opened);
// Returns the dump's number, 10 in the example above; -1 if the file name has no number.
int DumpNumberOf(const OpenedGraph& opened);

// Returns what is known from the graph's dump folder for finding the graph in a log: name, dump
// number, placed nodes, and position among the dumped graphs with the same nodes.
LogTarget TargetOf(const OpenedGraph& opened, const Graph& graph);

// Reads the history from `source`: a dump folder (the dumps of the same function up to this
// graph's, and the Grappler run between them) or a ledger (`opt --ledger`). If `source` is empty
// and the graph's file is a dump, reads the folder of that file and ignores errors in it. Errors:
// `source` is neither of these, or has no dump of this graph.
Expected<GraphStory> StoryOf(const OpenedGraph& opened, llvm::StringRef source);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLACEMENT_HISTORY_H_
