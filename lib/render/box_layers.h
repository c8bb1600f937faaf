// The layers of a model as a picture's boxes show them.
#ifndef GRAPNEL_LIB_RENDER_BOX_LAYERS_H_
#define GRAPNEL_LIB_RENDER_BOX_LAYERS_H_

#include <map>
#include <string>
#include <vector>

#include "lib/io/layers/layers.h"

namespace grapnel {

class BoxLayers {
 public:
  struct Layer {
    std::string path, label;  // LayerTable::PathOf and LabelOf
    std::string name, class_name;
    int parent = -1;  // lower than the layer's own number
    bool is_model = false;
    std::vector<LayerOutput> outputs;
    std::vector<LayerVariable> variables;  // its own, without those of layers in it
    ParameterCount parameters;             // with those of layers in it
  };

  BoxLayers() = default;  // of a graph without layers
  explicit BoxLayers(LayerTable table);
  // Takes the layers of two graphs that were merged into one: layers with one path are one. A node
  // that `table` does not know may be in a layer of `other`.
  BoxLayers(LayerTable table, LayerTable other);

  bool empty() const { return layers_.empty(); }
  size_t size() const { return layers_.size(); }
  const Layer& operator[](int layer) const { return layers_[layer]; }
  // Returns the number of the innermost layer to which a node belongs; -1 if it belongs to none.
  int Of(const Node& node) const;
  // Returns the program's name of a layer in a layer; see LayerTable::NameOfSublayer.
  llvm::StringRef NameOfSublayer(const Graph& graph, llvm::StringRef scope) const;
  // Returns what the program calls a variable of the main graph: "dense/kernel"; empty if unknown.
  std::string VariableOf(const Node& node) const { return variables_.lookup(node.name()); }
  // Returns the innermost layer that contains both; -1 if there is none.
  int Common(int a, int b) const;

 private:
  void Add(const LayerTable& table, std::vector<int>* numbers);

  LayerTable table_, other_;
  std::vector<Layer> layers_;
  std::map<std::string, int> by_path_;
  llvm::StringMap<std::string> variables_;       // names by node
  std::vector<int> numbers_, numbers_of_other_;  // by number in the table
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_BOX_LAYERS_H_
