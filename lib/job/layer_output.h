// Finds the output of a Keras layer, by the name of the layer.
#ifndef GRAPNEL_LIB_JOB_LAYER_OUTPUT_H_
#define GRAPNEL_LIB_JOB_LAYER_OUTPUT_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Returns the names of the variable of a handle; empty if `handle` belongs to another resource.
using VariableNames = std::function<std::vector<std::string>(Port handle)>;

// Returns the tensors that leave the scope of a layer: each output of a node in the scope that a
// node outside of it reads, or that the function returns. A scope is the layer's if its last part
// is `layer`, or `layer` and a number, which TensorFlow adds if the name was used before ("conv_1"
// for "conv"). Of several, those count in which a variable of the layer ("conv/kernel") is read;
// without such a variable, if another layer of the body shows that numbers were added, those with a
// number. Empty if there is no such scope; several for a layer with several outputs, or one that is
// called several times. Linear in the body.
std::vector<Port> OutputsOfLayer(const Graph& body, llvm::StringRef layer,
                                 const VariableNames& variables);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_LAYER_OUTPUT_H_
