// Finds the nodes of layers that the object graph states.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_OBJECT_LAYERS_H_
#define GRAPNEL_LIB_IO_LAYERS_OBJECT_LAYERS_H_

#include "lib/io/layers/draft.h"
#include "lib/io/layers/stated_layers.h"

namespace grapnel {

// Finds the nodes of the layers in `draft`, all of which were stated. The nodes of a Keras layer
// are in its scope: "model/block/conv", in later calls "model/block/conv_1". Nodes of a tf.Module
// are those that read its variables, and those that compute with nothing but their results.
// `model`: the name of the Keras model, whose scope is around those of its layers; empty: unknown.
// `container`: the layer that contains the whole body; -1: the model.
BodyLayers FindNodesOfLayers(const LayerBody& body, llvm::StringRef model, int container,
                             const Draft& draft);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_OBJECT_LAYERS_H_
