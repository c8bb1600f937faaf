// Finds for each variable of a model the value in a checkpoint that belongs to it.
#ifndef GRAPNEL_LIB_IO_VARIABLE_BINDING_H_
#define GRAPNEL_LIB_IO_VARIABLE_BINDING_H_

#include <string>
#include <vector>

#include "lib/io/bundle.h"
#include "lib/io/open.h"
#include "lib/io/saved_variables.h"

namespace grapnel {

namespace proto {
class SavedObjectGraph;
}

struct VariableBinding {
  struct Bound {
    NodeId variable;  // the node in the main graph: see IsVariable
    std::string key;  // the key in the checkpoint
    // Another checkpoint key that may be the right one instead, and that has a different value;
    // empty if there is no such key.
    std::string rival;
  };
  struct Unbound {
    NodeId variable;
    std::string reason;  // "the checkpoint has no 'dense/kernel'; did you mean ..."
  };
  std::vector<Bound> bound;  // both lists are in the order of the main graph
  std::vector<Unbound> unbound;
  bool is_of_model = false;  // false: nothing in the checkpoint matches the model
};

// Finds the key of each variable as TensorFlow 2 does. The variable's node belongs to an object
// (lib/io/variable_objects.h), and names lead to the same object in the checkpoint: from the root,
// or from another object as in tf.train.Checkpoint(model=...) (lib/io/object_match.h). If there are
// no objects (TF1), or the checkpoint arranges them differently, uses the variable's name if only
// one variable has it, and last a name that differs only in numbers (lib/io/name_match.h). Dtypes
// and shapes must fit. Fails if the checkpoint or the object graph cannot be read.
Expected<VariableBinding> BindVariables(const GraphInFile& graph, Bundle* bundle);

// Returns, of a binding of the graph that `part` is a part of, what concerns the variables of
// `part`, with their nodes there.
VariableBinding BindingOfPart(const GraphInFile& part, VariableBinding binding);

// Returns the variables of the main graph, in the order of their nodes. A variable has the name of
// its object if it has one, because the node may be called otherwise ("dense/kernel_1"). `saved` is
// the object graph of `graph`.
std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph,
                                              const proto::SavedObjectGraph& saved);

std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph);

// Returns the reason why the value under `key`, of this dtype and shape, cannot be the variable's
// value; empty if it can.
std::string WhyNoValue(const SavedVariable& variable, llvm::StringRef key, DataType dtype,
                       const Shape& shape);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_BINDING_H_
