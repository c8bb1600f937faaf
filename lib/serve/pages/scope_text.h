// A box of the picture as a graph's text, to be read on its own.
#ifndef GRAPNEL_LIB_SERVE_PAGES_SCOPE_TEXT_H_
#define GRAPNEL_LIB_SERVE_PAGES_SCOPE_TEXT_H_

#include <string>

#include "lib/render/graph_page.h"

namespace grapnel {

constexpr size_t kMostCopied = 20000;  // nodes

// What ExtractNodes (lib/pass/cut.h) gives of a scope's nodes, printed as for people
// (lib/ir/text.h): long constants are cut short. What the rest of the graph reads of it is fetched.
// Errors: those of ExtractNodes; no such scope, or one of more than kMostCopied nodes.
Expected<std::string> ScopeText(GraphPage& graph, size_t body, ScopeId scope);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_SCOPE_TEXT_H_
