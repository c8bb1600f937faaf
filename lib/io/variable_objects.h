// Which variables of a SavedModel's graph are which of its objects.
#ifndef GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_
#define GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_

#include "lib/io/open.h"
#include "lib/io/saved_variables.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

namespace proto {
class SavedObjectGraph;
}

// Sets `object`, `also` and `key`. The object of a variable is what a function of the object graph
// captures at a call of the main graph, as tf.saved_model.load has it; else the one under whose
// name the saver restores the variable, or the saver's copy of it. Only what no saver restores is
// found by its name: the one object that is called so; else, as every tf.Variable without a name is
// "Variable", and the graph makes "Variable_1" of the next, one of that name, dtype and shape which
// nothing has told yet, the last object first, as TensorFlow writes them.
void FindObjects(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                 llvm::MutableArrayRef<SavedVariable> variables);

// The shortest way of names from the root to the object of each variable, "net/layers/0/kernel"; of
// ways that are as short the first. Empty: it has no object.
std::vector<std::string> PathsOfObjects(const GraphInFile& graph,
                                        llvm::ArrayRef<SavedVariable> variables);

// Objects that say once more what others are: Keras' export keeps the variables that its functions
// use as objects of their own, in the root's list `_all_variables`.
llvm::DenseSet<int> ListedAgain(const proto::SavedObjectGraph& saved);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_OBJECTS_H_
