// Names the layer of each node and variable, for reports that say where something is.
#ifndef GRAPNEL_LIB_IO_LAYERS_LAYER_NAMES_H_
#define GRAPNEL_LIB_IO_LAYERS_LAYER_NAMES_H_

#include <string>
#include <vector>

#include "lib/io/layers/layers.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// A layer's name is its path, "encoder/conv". In a graph without layers, the name scope of a node
// takes the place of its layer. Like LayerTable, holds for copies of the graph and for graphs that
// passes made from it.
class LayerNames {
 public:
  LayerNames() = default;  // of a graph without layers
  explicit LayerNames(LayerTable table);
  // LayersOf(file): linear in the graph.
  explicit LayerNames(const GraphInFile& file) : LayerNames(LayersOf(file)) {}

  const LayerTable& table() const { return table_; }
  bool empty() const { return table_.empty(); }
  // Return "" for what is outside of all layers. `function`: the one whose body has the node;
  // empty: the main graph.
  std::string Of(const Node& node) const;
  std::string Of(llvm::StringRef function, llvm::StringRef node) const;
  // `name`: the variable's name, or that of its node in the main graph.
  std::string OfVariable(llvm::StringRef name) const;
  // Returns the index of the variable in LayerTable::variables(); -1 if it is not there.
  int FindVariable(llvm::StringRef name) const;
  // Returns LayerTable::PathOf; "" for -1.
  const std::string& PathOf(int layer) const;

 private:
  LayerTable table_;
  std::vector<std::string> paths_;                       // by layer
  std::vector<int> owners_;                              // by variable: its layer; -1: none
  llvm::StringMap<int> variables_, nodes_of_variables_;  // by name
};

// Returns what stands for the layer of a node in a graph without layers: its name scope, without
// the calls from which it was inlined, up to the first scope that begins with a capital letter, as
// those do that ops open for their parts: "dense" for "StatefulPartitionedCall/dense/MatMul" and
// for "dense/MatMul/ReadVariableOp"; "" at the top.
llvm::StringRef ScopeAsLayer(llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_LAYER_NAMES_H_
