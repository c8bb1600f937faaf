// A timeline for people and for programs.
#ifndef GRAPNEL_LIB_DIFF_TIMELINE_TEXT_H_
#define GRAPNEL_LIB_DIFF_TIMELINE_TEXT_H_

#include "lib/diff/diff_text.h"
#include "lib/diff/timeline.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// A line a stage, under the graph that it is of: nodes and edges, and how many nodes it removed,
// added, changed and replaced. `brief`: stages that changed nothing are counted, not listed.
void WriteTimelineTable(const Timeline& timeline, bool brief, llvm::raw_ostream& os);

// As attributes of an object that is open: "stages": [{"file", "stage", "graph", "before": the file
// that it is compared with, "nodes", "edges", "added", "removed", "changed", "replaced": [{"a",
// "b"}]}], "problems".
void WriteTimelineJson(const Timeline& timeline, llvm::json::OStream& json);

// The diff of each stage that changed something.
void WriteTimelineChanges(const Timeline& timeline, const DiffTextOptions& options,
                          llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_TIMELINE_TEXT_H_
