// Writes the nodes in a box of the picture as the text of a graph.
#ifndef GRAPNEL_LIB_SERVE_PAGES_SCOPE_TEXT_H_
#define GRAPNEL_LIB_SERVE_PAGES_SCOPE_TEXT_H_

#include <string>

#include "lib/render/graph_page.h"

namespace grapnel {

constexpr size_t kMostCopied = 20000;  // nodes

// Returns the graph that ExtractNodes (lib/pass/cut.h) makes from a scope's nodes, printed for
// users (lib/ir/text.h): long constants are truncated. Values that the rest of the graph reads are
// fetches. Errors: those of ExtractNodes; no such scope, or a scope of more than kMostCopied nodes.
Expected<std::string> ScopeText(GraphPage& graph, size_t body, ScopeId scope);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_SCOPE_TEXT_H_
