// What passes did to a graph before it was dumped, for the nodes that a log of placements does not
// have.
#ifndef GRAPNEL_LIB_JOB_PLACEMENT_HISTORY_H_
#define GRAPNEL_LIB_JOB_PLACEMENT_HISTORY_H_

#include <string>

#include "lib/job/opened_graph.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// The name of the function whose dump a file is, "__inference_f_29" of
// "__inference_f_29.0010.main.after_graph_optimization.pbtxt"; of other names what is before the
// suffix.
std::string GraphNameOf(const OpenedGraph& opened);
// 10, of the same; -1: it has none.
int DumpNumberOf(const OpenedGraph& opened);

// Fills in what the folder of a dump tells for looking it up in a log: its name and number, what
// was placed, and the turn.
LogTarget TargetOf(const OpenedGraph& opened, const Graph& graph);

// From `source`: a folder of dumps, those of the same function up to this one, with the run of
// Grappler between them; or a ledger (`opt --ledger`). Without `source`, the folder that the file
// itself lies in, if it is a dump; then nothing that is there is an error. Errors: a source that is
// neither, or has no dump of this graph.
Expected<GraphStory> StoryOf(const OpenedGraph& opened, llvm::StringRef source);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLACEMENT_HISTORY_H_
