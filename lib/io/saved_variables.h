// The variables of a model: what they are called, how large they are, which of them are trained.
#ifndef GRAPNEL_LIB_IO_SAVED_VARIABLES_H_
#define GRAPNEL_LIB_IO_SAVED_VARIABLES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"

namespace grapnel {

// What a session and a checkpoint call the variable of a node: its shared_name, else its own name.
std::string NameOfVariable(const Node& node);

struct SavedVariable {
  std::string name;  // "dense/kernel"
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  std::optional<bool> trainable;  // where the object graph or a collection says so
  NodeId node = kNoNode;          // of the main graph
  int object = -1;                // of the object graph, by number; -1: none is known
  // Other objects that hold its value too: a variable of Keras 3 and the tf.Variable in it are two.
  std::vector<int> also;
  std::string key;           // of the checkpoint, where the saver reads it; empty: nowhere
  bool is_own = true;        // false: see OwnVariablesOf
  int64_t elements() const;  // -1: the shape is open
};

// Those of the main graph, in its order. Linear in the graph and the object graph.
std::vector<SavedVariable> VariablesOf(const GraphInFile& graph);

// Without copies that a saver made for itself and what an export lists once more, where objects say
// what they hold; of TensorFlow 1 without local variables, where a collection lists the others.
std::vector<SavedVariable> OwnVariablesOf(const GraphInFile& graph);

// Of a model's own: "126 variables: 3,504,872 parameters (3,470,760 trainable), 14.0 MB".
std::string VariablesText(llvm::ArrayRef<SavedVariable> own);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_VARIABLES_H_
