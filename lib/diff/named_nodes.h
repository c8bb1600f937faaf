// Finds the nodes of a timeline by name, short name, pattern or op.
#ifndef GRAPNEL_LIB_DIFF_NAMED_NODES_H_
#define GRAPNEL_LIB_DIFF_NAMED_NODES_H_

#include <string>
#include <vector>

#include "lib/diff/timeline.h"

namespace grapnel {

// A node in one trace.
struct NamedNode {
  int begin;         // the stage that the trace begins with
  std::string name;  // "node", "function/node"
  std::string op;    // where it is first seen
};

// Sorted by trace, in the timeline's order, then by name. The first of these with a match:
//   NODE, FUNCTION/NODE, NODE:0      as in FindNode (lib/ir/find.h); in traces without such a
//                                    node, those whose names end like this
//   a pattern (lib/support/glob.h)   matches such names, else ops
//   an op                            nodes that a trace begins with, else any
//   the end of a name                as in InstancesOf (lib/ir/node_instances.h)
//   TRACE/any of these               in the traces of that name (lib/diff/stage_names.h)
// Errors: a malformed pattern.
Expected<std::vector<NamedNode>> FindNodes(const Timeline& timeline, llvm::StringRef text);

// Returns the stage that begins the trace of `stage`.
int BeginOf(const Timeline& timeline, int stage);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_NAMED_NODES_H_
