// Identifiers of a Graphviz graph's objects. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_DOT_IDS_H_
#define GRAPNEL_LIB_RENDER_DOT_IDS_H_

#include <cgraph.h>

namespace grapnel {

// Returns an identifier discipline for agopen that numbers names in order of appearance. cgraph's
// default discipline uses the names' addresses, and cgraph writes subgraphs in the order of
// identifiers, so the output would depend on earlier work of the process.
Agdisc_t& IdsInOrder();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DOT_IDS_H_
