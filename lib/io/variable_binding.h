// Which value of a checkpoint belongs to which variable of a model.
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
    NodeId variable;  // of the main graph: VarHandleOp, VariableV2
    std::string key;  // in the checkpoint
    // Another of the checkpoint that may be meant, and holds another value; empty: there is none.
    std::string rival;
  };
  struct Unbound {
    NodeId variable;
    std::string reason;  // "the checkpoint has no 'dense/kernel'; did you mean ..."
  };
  std::vector<Bound> bound;  // both in the order of the main graph
  std::vector<Unbound> unbound;
  bool is_of_model = false;  // whether the checkpoint has anything that is like the model
};

// As TensorFlow 2 finds them: a node of the main graph is an object (lib/io/variable_objects.h),
// and the object is found in the checkpoint by the names that lead to it from the root, or from
// another object (lib/io/object_match.h), as in tf.train.Checkpoint(model=...). Where there are no
// objects (TensorFlow 1), or the checkpoint has them otherwise, by the variable's name, if only one
// has it; last by a name that differs in numbers alone (lib/io/name_match.h). Dtypes and shapes
// must fit. Errors: the checkpoint or the object graph is damaged.
Expected<VariableBinding> BindVariables(const GraphInFile& graph, Bundle* bundle);

// The variables of the main graph, in its order, under the names of their objects where they have
// any: a graph makes names of its own for copies ("dense/kernel_1"). `saved` is the graph's.
std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph,
                                              const proto::SavedObjectGraph& saved);

std::vector<SavedVariable> VariablesOfObjects(const GraphInFile& graph);

// Why a value of this dtype and shape, under `key`, is none for the variable; empty: it is one.
std::string WhyNoValue(const SavedVariable& variable, llvm::StringRef key, DataType dtype,
                       const Shape& shape);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_BINDING_H_
