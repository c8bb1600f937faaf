// Binds the variables of a model to values of a checkpoint.
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
    NodeId variable;  // in the main graph: VarHandleOp, VariableV2
    std::string key;  // in the checkpoint
    // Another key in the checkpoint that may be meant and has a different value; empty if there is
    // none.
    std::string rival;
  };
  struct Unbound {
    NodeId variable;
    std::string reason;  // "the checkpoint has no 'dense/kernel'; did you mean ..."
  };
  std::vector<Bound> bound;  // both in the order of the main graph
  std::vector<Unbound> unbound;
  bool is_of_model = false;  // true if the checkpoint has anything in common with the model
};

// Finds values as TensorFlow 2 does: a node of the main graph is an object
// (lib/io/variable_objects.h), and names lead to that object in the checkpoint from the root, or
// from another object (lib/io/object_match.h), as in tf.train.Checkpoint(model=...). If there are
// no objects (TF1), or the checkpoint arranges them differently, binds by the variable's name, if
// only one has it; last by a name that differs in numbers only (lib/io/name_match.h). Dtypes and
// shapes must fit. Errors: the checkpoint or the object graph is damaged.
Expected<VariableBinding> BindVariables(const GraphInFile& graph, Bundle* bundle);

// Returns the variables of the main graph, in its order, under the names of their objects if they
// have any: a graph invents names for copies ("dense/kernel_1"). `saved` is the graph's.
std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph,
                                              const proto::SavedObjectGraph& saved);

std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph);

// Returns why a value of this dtype and shape, under `key`, cannot be the variable's; empty if it
// can.
std::string WhyNoValue(const SavedVariable& variable, llvm::StringRef key, DataType dtype,
                       const Shape& shape);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_BINDING_H_
