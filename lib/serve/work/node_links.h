// Node references in the page's form: a body's number, and a node in it.
#ifndef GRAPNEL_LIB_SERVE_WORK_NODE_LINKS_H_
#define GRAPNEL_LIB_SERVE_WORK_NODE_LINKS_H_

#include <vector>

#include "lib/ir/module.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// The graphs of a module, numbered as the page numbers bodies.
std::vector<const Graph*> BodiesOf(const Module& module);
size_t BodyNumber(const Module& module, const Graph& graph);

// {"body", "id", "op", "name"}
void WriteNodeLink(size_t body, const Node& node, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_NODE_LINKS_H_
