// Finds operators between the layers of a functional Keras 3 model, such as x + y or ops.tanh(x).
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_OPERATORS_H_
#define GRAPNEL_LIB_IO_LAYERS_OPERATORS_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/io/layers/scopes.h"

namespace grapnel {

struct Operator {
  std::string name;  // Keras's name for it: "multiply"
  std::vector<NodeId> nodes;
};

// Returns the operators in a scope, in the order of their nodes. An operator has no scope of its
// own in Keras; one that TensorFlow computes with several nodes has TensorFlow's. The ops of masks
// are operators too. `is_layer`: true for the scopes of layers.
std::vector<Operator> OperatorsIn(int scope, const NameScopes& scopes, const LayerBody& body,
                                  const std::function<bool(int)>& is_layer);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_OPERATORS_H_
