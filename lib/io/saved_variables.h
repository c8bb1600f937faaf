// The variables of a model: names, sizes, and which are trainable.
#ifndef GRAPNEL_LIB_IO_SAVED_VARIABLES_H_
#define GRAPNEL_LIB_IO_SAVED_VARIABLES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"

namespace grapnel {

// Returns the name of a node's variable in sessions and checkpoints: its shared_name, else its own
// name.
std::string NameOfVariable(const Node& node);

struct SavedVariable {
  std::string name;  // "dense/kernel"
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  std::optional<bool> trainable;  // if the object graph or a collection says so
  NodeId node = kNoNode;          // in the main graph
  int object = -1;                // index in the object graph; -1: unknown
  // Other objects that hold its value too: a Keras 3 variable and its tf.Variable are two objects.
  std::vector<int> also;
  std::string key;           // in the checkpoint, where the saver reads it; empty: none
  bool is_own = true;        // false: see OwnVariablesOf
  int64_t elements() const;  // -1: the shape is unknown
};

// Returns the variables of the main graph, in its order. Linear in the graph and the object graph.
std::vector<SavedVariable> VariablesOf(const GraphInFile& graph);

// The same without the copies that a saver made for itself and the duplicates of an export, as far
// as objects tell; for TF1, without local variables, if a collection lists the others.
std::vector<SavedVariable> OwnVariablesOf(const GraphInFile& graph);

// Text about a model's own variables: "126 variables: 3,504,872 parameters (3,470,760 trainable),
// 14.0 MB".
std::string VariablesText(llvm::ArrayRef<SavedVariable> own);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_VARIABLES_H_
