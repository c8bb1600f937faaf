// Orders layers as Keras's summary does.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_KERAS_ORDER_H_
#define GRAPNEL_LIB_IO_LAYERS_KERAS_ORDER_H_

#include "lib/io/layers/draft.h"

namespace grapnel {

// Returns the layers directly in `container` (-1: in the model) in order. `places`: for each layer,
// that of its first variable in the file's list of the model's variables; -1: it has none there.
// `first`: numbers by which layers without another order are sorted; kNoNode: the layer has no
// nodes in the body.
//
// In a functional model, Keras orders layers by the longest way to an output, and layers at the
// same distance by the walk from the outputs back to the inputs. Layers that left no nodes, such as
// Dropout, make such ways longer, but cannot be seen; Keras also runs layers and lists variables by
// distance, so these two orders correct the distances. In other models, the order is that of
// `first`. A layer without nodes comes where its variables are among those of the others.
std::vector<int> OrderOfLayers(const Draft& draft, const BodyLayers& found, int container,
                               llvm::ArrayRef<int> places, llvm::ArrayRef<NodeId> first);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_KERAS_ORDER_H_
