// The variables of a model: names, sizes, and which are trainable.
#ifndef GRAPNEL_LIB_IO_SAVED_VARIABLES_H_
#define GRAPNEL_LIB_IO_SAVED_VARIABLES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Returns the name of a node's variable in sessions and checkpoints: its shared_name; without one,
// the name of the node.
std::string NameOfVariable(const Node& node);

// True for the name of a variable that is the state of Keras's random generators. It does not
// count as a parameter, and its first value differs each time that a program builds its model.
bool IsGeneratorState(llvm::StringRef variable);

struct SavedVariable {
  std::string name;  // "dense/kernel"
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  std::optional<bool> trainable;  // nullopt: neither object graph nor collection says so
  NodeId node = kNoNode;          // the variable's node in the main graph
  int object = -1;                // index in the object graph; -1: unknown
  // Other objects of the object graph that have the same value: Keras 3's variable and the
  // tf.Variable in it are two objects.
  std::vector<int> also;
  std::string key;           // the checkpoint key that the saver reads; empty: not known
  bool is_own = true;        // false: OwnVariablesOf omits the variable
  int64_t elements() const;  // -1: not known
};

// Returns the variables of the main graph, in the order of their nodes. For a part of a file's
// graph, the rest of the graph says what the part does not. Linear in the graph and the object
// graph.
std::vector<SavedVariable> VariablesOf(const GraphInFile& graph);

// Maps the variables' nodes in the graph that `part` is a part of to their nodes in `part`, by
// NameOfVariable; omits variables that `part` does not have.
llvm::DenseMap<NodeId, NodeId> VariablesInPart(const GraphInFile& part);

// Like VariablesOf, but omits copies that a saver made for itself and duplicates that an export
// made, where the object graph shows them. For TF1, omits variables that no collection lists (local
// variables), if any collection lists variables.
std::vector<SavedVariable> OwnVariablesOf(const GraphInFile& graph);

// Returns a line about the own variables of a model: "126 variables: 3,504,872 parameters
// (3,470,760 trainable), 14.0 MB".
std::string VariablesText(llvm::ArrayRef<SavedVariable> own);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_VARIABLES_H_
