// Writes references to nodes as the page expects them: a body's number, and a node's id in it.
#ifndef GRAPNEL_LIB_SERVE_WORK_NODE_LINKS_H_
#define GRAPNEL_LIB_SERVE_WORK_NODE_LINKS_H_

#include <vector>

#include "lib/ir/module.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Returns the graphs of a module, in the order in which the page numbers bodies.
std::vector<const Graph*> BodiesOf(const Module& module);
size_t BodyNumber(const Module& module, const Graph& graph);

// Writes {"body", "id", "op", "name"} for a node.
void WriteNodeLink(size_t body, const Node& node, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_NODE_LINKS_H_
