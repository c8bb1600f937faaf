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
  int64_t elements() const;       // -1: the shape is open
};

// Those of the main graph, in its order. Linear in the graph and the object graph.
std::vector<SavedVariable> VariablesOf(const GraphInFile& graph);

// Without the copies that a saver made for itself: where objects say what they hold, only that.
std::vector<SavedVariable> WithoutCopies(std::vector<SavedVariable> variables);

// "126 variables: 3,504,872 parameters (3,470,760 trainable), 14.0 MB".
std::string VariablesText(llvm::ArrayRef<SavedVariable> variables);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_VARIABLES_H_
