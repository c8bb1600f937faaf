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

// By trace, in the timeline's order, then by name. The first of these that there is:
//   NODE, FUNCTION/NODE, NODE:0      as FindNode has them (lib/ir/find.h); in traces that have no
//                                    such node, those whose names end so
//   a pattern (lib/support/glob.h)   of such names, else of ops
//   an op                            of nodes that a trace begins with, else of any
//   the end of a name                as InstancesOf has it (lib/ir/node_instances.h)
//   TRACE/any of these               in the traces that this names (lib/diff/stage_names.h)
// Errors: a malformed pattern.
Expected<std::vector<NamedNode>> FindNodes(const Timeline& timeline, llvm::StringRef text);

// The stage that begins the trace of `stage`.
int BeginOf(const Timeline& timeline, int stage);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_NAMED_NODES_H_
