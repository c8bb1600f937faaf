// Finds the variables that tensors come from, in all bodies of a graph.
#ifndef GRAPNEL_LIB_IO_VARIABLE_TENSORS_H_
#define GRAPNEL_LIB_IO_VARIABLE_TENSORS_H_

#include <map>
#include <utility>
#include <vector>

#include "lib/io/open.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// True for ops that only forward the value of a variable. The reader to look at is the op behind
// them.
bool HandsOnVariable(llvm::StringRef op);

// Finds out which variable of the main graph a tensor of any body comes from. Ignores calls of the
// saver. Making it takes a walk over all bodies.
class VariableTensors {
 public:
  // `graph` must outlive this object.
  explicit VariableTensors(const GraphInFile& graph);

  // True for nodes of NodesOfSaver.
  bool IsOfSaver(const Node& node) const;
  // Returns the variable that a port comes from: from its handle, or from its value through ops for
  // which HandsOnVariable is true. kNoNode if it does not come from a variable, or from a different
  // one at each call of the body.
  NodeId At(const Graph& body, Port port) const;

 private:
  void Enter(const Node& call, std::vector<const Graph*>* todo);

  const Graph& main_;
  llvm::DenseSet<NodeId> of_saver_;
  llvm::DenseSet<const Function*> seen_;
  std::map<std::pair<const Graph*, NodeId>, NodeId> arguments_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_TENSORS_H_
