// Identifiers of a Graphviz graph's objects. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_DOT_IDS_H_
#define GRAPNEL_LIB_RENDER_DOT_IDS_H_

#include <cgraph.h>

namespace grapnel {

// An identifier discipline for agopen that numbers names in order of appearance. cgraph's own uses
// the names' addresses, and writes subgraphs in the order of identifiers, so its output would
// depend on what the process did before.
Agdisc_t& IdsInOrder();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DOT_IDS_H_
