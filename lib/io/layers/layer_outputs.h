// Finds the tensors that layers compute for others.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_LAYER_OUTPUTS_H_
#define GRAPNEL_LIB_IO_LAYERS_LAYER_OUTPUTS_H_

#include "lib/io/layers/draft.h"

namespace grapnel {

// Returns for each layer the ports that nodes outside of it read, or that the body returns, in the
// order of their nodes; of a layer that is called several times, those of the last call. A layer
// whose nodes nothing reads, such as one that only adds a loss, returns its input. `shares_scopes`:
// all calls of a layer have one scope, as in Keras 2; the nodes of later calls are numbered.
std::vector<std::vector<Port>> OutputsOfLayers(const Draft& draft, const BodyLayers& found,
                                               bool shares_scopes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_LAYER_OUTPUTS_H_
