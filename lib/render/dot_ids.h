// Identifiers of a Graphviz graph's objects. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_DOT_IDS_H_
#define GRAPNEL_LIB_RENDER_DOT_IDS_H_

#include <cgraph.h>

namespace grapnel {

// For agopen: names count in the order in which they come. cgraph's own are the addresses of names,
// and it writes subgraphs in the order of identifiers: what it writes would depend on what the
// process did before.
Agdisc_t& IdsInOrder();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DOT_IDS_H_
