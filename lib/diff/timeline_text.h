// Writes a timeline as text or JSON.
#ifndef GRAPNEL_LIB_DIFF_TIMELINE_TEXT_H_
#define GRAPNEL_LIB_DIFF_TIMELINE_TEXT_H_

#include "lib/diff/diff_text.h"
#include "lib/diff/timeline.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes a line for each stage, grouped by graph: the numbers of nodes and edges in the main graph,
// of nodes in functions, and of main-graph nodes that the stage removed, added and changed, and the
// stage's DiffRemark. `brief`: stages that changed nothing are counted, not listed.
void WriteTimelineTable(const Timeline& timeline, bool brief, llvm::raw_ostream& os);

// Writes these members of the JSON object that `json` has begun: "stages": [{"file", "stage",
// "graph", "before"?: the file that it is compared with, "nodes", "edges", "added", "removed",
// "changed", "library": {the same five for functions}, the members of WriteFatesJson and
// WriteLayerStoryJson, "replaced": [{"a", "b"}]}], "graphs": [{"graph", "before", "file", the
// members of WriteLayerStoryJson}], "problems".
void WriteTimelineJson(const Timeline& timeline, llvm::json::OStream& json);

// Writes the diff of each stage that changed something.
void WriteTimelineChanges(const Timeline& timeline, const DiffTextOptions& options,
                          llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_TIMELINE_TEXT_H_
