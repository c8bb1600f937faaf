// Which value of a checkpoint belongs to which variable of a model.
#ifndef GRAPNEL_LIB_IO_VARIABLE_BINDING_H_
#define GRAPNEL_LIB_IO_VARIABLE_BINDING_H_

#include <string>
#include <vector>

#include "lib/io/bundle.h"
#include "lib/io/open.h"

namespace grapnel {

struct VariableBinding {
  struct Bound {
    NodeId variable;  // of the main graph: VarHandleOp, VariableV2
    std::string key;  // in the checkpoint
  };
  struct Unbound {
    NodeId variable;
    std::string reason;  // "the checkpoint has no 'dense/kernel'; did you mean ..."
  };
  std::vector<Bound> bound;  // both in the order of the main graph
  std::vector<Unbound> unbound;
};

// As TensorFlow 2 finds them: a node of the main graph is the object that a function captures
// there, or the one object of its name; an object is found in the checkpoint by the names that lead
// to it from the root (or from a root that holds the model, or that the model holds, as in
// tf.train.Checkpoint(model=...)), slots of optimizers by the variable that they belong to. Where
// there are no objects (TensorFlow 1), or the checkpoint has none, by the variable's name. Dtypes
// and shapes must fit. Errors: the checkpoint or the object graph is damaged.
Expected<VariableBinding> BindVariables(const GraphInFile& graph, Bundle* bundle);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_BINDING_H_
