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
// object graph captures at a call in the main graph, as in tf.saved_model.load; if there is none,
// the one under whose key the saver restores the variable or its copy. If the saver restores no
// variables, an object is found by name: the only object of that name; otherwise an object of that
// name, dtype and shape that no variable has yet, the last object first, which is TensorFlow's
// order. (Every tf.Variable without a name is "Variable", and the graph names the next one
// "Variable_1".)
void FindObjects(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                 llvm::MutableArrayRef<SavedVariable> variables);

// Returns the shortest path of names from the root to each variable's object,
// "net/layers/0/kernel"; among equally short paths the first. Empty if the variable has no object.
std::vector<std::string> PathsOfObjects(const GraphInFile& graph,
                                        llvm::ArrayRef<SavedVariable> variables);

// Returns objects that duplicate others: Keras export stores the variables that its functions use
// again as objects of their own, in the root's list `_all_variables`.
llvm::DenseSet<int> ListedAgain(const proto::SavedObjectGraph& saved);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_
