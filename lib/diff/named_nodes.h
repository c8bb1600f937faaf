// Finds the nodes of a timeline by name, short name, pattern or op.
#ifndef GRAPNEL_LIB_DIFF_NAMED_NODES_H_
#define GRAPNEL_LIB_DIFF_NAMED_NODES_H_

#include <string>
#include <vector>

#include "lib/diff/timeline.h"

namespace grapnel {

// A node in one trace. A trace is a sequence of stages, each compared with the one before.
struct NamedNode {
  int begin;         // index of the first stage of the trace
  std::string name;  // "node", "function/node"
  std::string op;    // where the node first occurs
};

// Returns the nodes that `text` names, sorted by trace, in the timeline's order, then by name. Uses
// the first of these readings of `text` that matches a node:
//   NODE, FUNCTION/NODE, NODE:0      as in FindNode (lib/ir/find.h); in traces without such a
//                                    node, the nodes whose names end like this
//   a pattern (lib/support/glob.h)   the nodes whose names match, from any part on; if there are
//                                    none, whose ops do
//   an op                            nodes in the first stage of a trace, or else in any stage
//   the end of a name                as in InstancesOf (lib/ir/node_instances.h)
//   a layer, by its path or the end  the nodes of the layer in the first stage of a trace
//   TRACE/any of these               in the traces of that name (lib/diff/stage_names.h)
// Error: a malformed pattern.
Expected<std::vector<NamedNode>> FindNodes(const Timeline& timeline, llvm::StringRef text);

// Returns the index of the first stage of the trace that `stage` belongs to.
int BeginOf(const Timeline& timeline, int stage);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_NAMED_NODES_H_
