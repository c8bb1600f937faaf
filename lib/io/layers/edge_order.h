// The places of layers by the edges between them.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_EDGE_ORDER_H_
#define GRAPNEL_LIB_IO_LAYERS_EDGE_ORDER_H_

#include "lib/io/layers/draft.h"

namespace grapnel {

// Returns numbers that order the layers of a body so that each comes after those whose results it
// reads, directly or through other nodes. Of the layers that can be next, the one with the first
// node is next; so it is among layers that read each other. `first`: the first node of each layer; kNoNode: it has no nodes in the
// body, and gets no number either. Linear in the body's edges.
std::vector<NodeId> PlacesByEdges(const Draft& draft, const BodyLayers& found,
                                  llvm::ArrayRef<NodeId> first);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_EDGE_ORDER_H_
