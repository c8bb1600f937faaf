// Maps the variables of a SavedModel's graph to its objects.
#ifndef GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_
#define GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_

#include "lib/io/open.h"
#include "lib/io/saved_variables.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

namespace proto {
class SavedObjectGraph;
}

// Sets `object`, `also` and `key`. The object of a variable is the one that a function of the
// object graph captures at a call in the main graph, as in tf.saved_model.load; else the one under
// whose name the saver restores the variable or its copy. Variables that no saver restores are
// found by name: the only object of that name; otherwise an unclaimed object of that name, dtype
// and shape, the last object first, which is TensorFlow's order. (Every unnamed tf.Variable is
// "Variable", and the graph names the next one "Variable_1".)
void FindObjects(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                 llvm::MutableArrayRef<SavedVariable> variables);

// Returns the shortest path of names from the root to each variable's object,
// "net/layers/0/kernel"; the first of equally short ones. Empty if it has no object.
std::vector<std::string> PathsOfObjects(const GraphInFile& graph,
                                        llvm::ArrayRef<SavedVariable> variables);

// Returns objects that duplicate others: Keras export keeps the variables that its functions use as
// objects of their own, in the root's list `_all_variables`.
llvm::DenseSet<int> ListedAgain(const proto::SavedObjectGraph& saved);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_
