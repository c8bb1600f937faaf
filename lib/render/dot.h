// Converts a picture to a Graphviz graph, with every attribute that `dot` needs to lay it out.
#ifndef GRAPNEL_LIB_RENDER_DOT_H_
#define GRAPNEL_LIB_RENDER_DOT_H_

#include <cgraph.h>

#include <string>

#include "lib/render/picture.h"

namespace grapnel {

// Returns a new graph, which the caller closes with agclose. Only one thread at a time may use
// cgraph.
Agraph_t* MakeDotGraph(const Picture& picture);

// Returns the graph as DOT text, as cgraph writes it.
std::string DotText(Agraph_t* graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DOT_H_
