// Finds layers by name scopes, for models whose object graph states none.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_SCOPE_LAYERS_H_
#define GRAPNEL_LIB_IO_LAYERS_SCOPE_LAYERS_H_

#include "lib/io/layers/draft.h"

namespace grapnel {

// Adds the layers of a body to `draft`, as LayersOf describes. `container`: the layer that contains
// the whole body; -1: the model. `is_object_model`: the file has an object graph, so Keras or a
// tf.Module made the graph; otherwise each scope with scopes that read variables is opened.
BodyLayers FindLayersByScopes(const LayerBody& body, llvm::ArrayRef<ModelVariable> variables,
                              int container, bool is_object_model, Draft* draft);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_SCOPE_LAYERS_H_
