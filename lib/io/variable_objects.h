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

// Sets `object`, `also` and `key` of each variable. A variable's object is the one that a function
// of the object graph captures where the main graph passes the variable in a call, as in
// tf.saved_model.load. If there is none, it is the object under whose key the saver restores the
// variable or the variable's copy. If the saver restores no variables, the object is found by name:
// the only object of the name; otherwise, of the objects with the name, dtype and shape, the last
// one that no variable has yet, which is TensorFlow's order. (Every tf.Variable without a name is
// "Variable", and the graph names the next one "Variable_1".)
void FindObjects(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                 llvm::MutableArrayRef<SavedVariable> variables);

// Returns for each variable the shortest path of child names from the root to its object, such as
// "net/layers/0/kernel"; the first of several. Names are escaped as in checkpoint keys. Empty if
// there is no such path.
std::vector<std::string> PathsOfObjects(const GraphInFile& graph,
                                        llvm::ArrayRef<SavedVariable> variables);

// Returns the objects that duplicate others. A Keras export stores a second object for each
// variable that its functions use; such an object is only in the root's list `_all_variables`.
llvm::DenseSet<int> ListedAgain(const proto::SavedObjectGraph& saved);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_
