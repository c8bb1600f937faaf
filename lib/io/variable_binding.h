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
    NodeId variable;  // the node in the main graph: VarHandleOp or VariableV2
    std::string key;  // the key in the checkpoint
    // Another checkpoint key that may be the right one and has a different value; empty if there is
    // no such key.
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

// Finds values as TensorFlow 2 does: a variable's node is an object (lib/io/variable_objects.h),
// and names lead to that object in the checkpoint from the root, or from another object
// (lib/io/object_match.h), as in tf.train.Checkpoint(model=...). If there are no objects (TF1), or
// the checkpoint arranges them differently, binds by the variable's name if only one variable has
// it; as a last resort, by a name that differs only in numbers (lib/io/name_match.h). Dtypes and
// shapes must fit. Errors: the checkpoint or the object graph is damaged.
Expected<VariableBinding> BindVariables(const GraphInFile& graph, Bundle* bundle);

// Returns the variables of the main graph, in its order, under the names of their objects if they
// have any: the graph gives copies other names ("dense/kernel_1"). `saved` is the object graph of
// `graph`.
std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph,
                                              const proto::SavedObjectGraph& saved);

std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph);

// Returns the reason why a value of this dtype and shape, under `key`, cannot be that of the
// variable; empty if it can.
std::string WhyNoValue(const SavedVariable& variable, llvm::StringRef key, DataType dtype,
                       const Shape& shape);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_BINDING_H_
