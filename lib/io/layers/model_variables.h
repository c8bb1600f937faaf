// The variables that are the parameters of a model, and the bodies whose nodes read them.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_MODEL_VARIABLES_H_
#define GRAPNEL_LIB_IO_LAYERS_MODEL_VARIABLES_H_

#include <map>
#include <string>
#include <vector>

#include "lib/io/layers/layers.h"
#include "lib/io/saved_variables.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

namespace proto {
class SavedObjectGraph;
}

struct ModelVariable {
  LayerVariable told;                      // what the table says about it
  llvm::SmallVector<std::string, 4> path;  // the parts of its name but the last: the layers
  NodeId node = kNoNode;                   // in the main graph of the file; kNoNode: not there
  std::vector<int> objects;                // indices in the object graph
  int place = -1;                          // in Keras's list of the model's variables; -1: unknown
};

// Returns the parameters of a model: its own variables, without the state of random generators and
// without the variables of an optimizer that are named after those that they belong to. For a graph
// without variables, whose network was frozen, its constants of floating-point numbers that are not
// scalars.
std::vector<ModelVariable> ParametersOf(const GraphInFile& file,
                                        const proto::SavedObjectGraph& saved);

// One body of a model.
struct LayerBody {
  const Graph* graph = nullptr;
  std::string function;         // empty: the main graph
  std::vector<NodeId> nodes;    // of the network, without variables, arguments and results
  std::map<Port, int> handles;  // the parameters by the ports that provide them
  llvm::DenseMap<NodeId, llvm::SmallVector<int, 2>> reads;  // the parameters that a node reads
  std::vector<Port> outputs;  // in the order of Keras: by key, where keys may end with a number
};

// Returns the body of each distinct signature, the default one first; without signatures, the main
// graph.
std::vector<LayerBody> BodiesOf(const GraphInFile& file, llvm::ArrayRef<ModelVariable> variables);

// Returns the bodies of the functions that `node` of `body` calls, each with the parameters that
// the call passes. Empty for a node that only refers to functions, such as a dataset.
std::vector<LayerBody> BodiesCalledBy(const Node& node, const LayerBody& body);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_MODEL_VARIABLES_H_
