// Finds the checkpoint keys from which a SavedModel's saver restores each variable.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_SAVER_KEYS_H_
#define GRAPNEL_LIB_IO_SAVER_KEYS_H_

#include <string>

#include "lib/io/open.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Maps each variable of the main graph to the key of the checkpoint tensor that the saver's restore
// op assigns to it; omits variables whose key is not known, such as those that are restored in
// slices. Empty if no saver is found. Linear in the main graph and the saver's functions.
llvm::DenseMap<NodeId, std::string> KeysOfSaver(const GraphInFile& graph);

// Maps each variable of the main graph that is initialized from another variable to that other
// variable. Keras 3 exports create such copies: each Keras variable contains a tf.Variable, which
// functions read, and the saver restores a copy under the Keras variable's key.
llvm::DenseMap<NodeId, NodeId> VariablesCopied(const Graph& main);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVER_KEYS_H_
