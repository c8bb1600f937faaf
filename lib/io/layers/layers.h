// The layers of a model: which node and which variable belongs to which layer.
#ifndef GRAPNEL_LIB_IO_LAYERS_LAYERS_H_
#define GRAPNEL_LIB_IO_LAYERS_LAYERS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/io/open.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// A tensor that a layer computes for others.
struct LayerOutput {
  std::string function;  // the function whose body has the node; empty: the main graph
  std::string node;
  int32_t index = 0;
  bool operator==(const LayerOutput& other) const {
    return function == other.function && node == other.node && index == other.index;
  }
};

struct LayerVariable {
  std::string name;  // as the program names it: "dense/kernel", "dense1/kernel"
  std::string node;  // its node in the main graph; of a frozen graph, the constant
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  std::optional<bool> trainable;  // nullopt: the file does not say so
  int64_t elements() const;       // -1: unknown
};

struct ModelLayer {
  std::string name;        // as in the program: "conv2d_1"
  std::string class_name;  // "Conv2D"; empty: the file does not say so
  int parent = -1;         // the nested model that contains the layer; -1: the model itself
  bool is_model = false;   // a nested model, which has layers of its own
  // Indices of its own variables in LayerTable::variables(); without those of nested layers. A
  // variable that two layers share is in both lists.
  std::vector<int> variables;
  // The tensors that other layers read, in the order of the nodes that make them. If the layer is
  // called several times, those of its last call.
  std::vector<LayerOutput> outputs;
};

struct ParameterCount {
  int64_t all = 0, trainable = 0, bytes = 0;
  bool is_told = false;  // false: the file does not say which variables are trained
  bool is_open = false;  // true: the shape of a variable is unknown, so these are lower bounds
};

// The layers of one model. Names, not pointers, refer to nodes: the table stays valid if the graph
// changes, and holds for a copy of it, for an optimized graph, and for records of a run.
class LayerTable {
 public:
  LayerTable() = default;

  bool empty() const { return layers_.empty(); }
  const std::string& model() const { return model_; }  // the model's name; empty: unknown
  // The layers in the order of `model.summary(expand_nested=True)`: a nested model comes directly
  // before its layers.
  llvm::ArrayRef<ModelLayer> layers() const { return layers_; }
  llvm::ArrayRef<LayerVariable> variables() const { return variables_; }

  // Returns the layers directly in a nested model; with -1, those of the model.
  std::vector<int> LayersIn(int parent) const;
  // Returns the layer to which a node belongs: the innermost one; -1 if it belongs to none, as ops
  // between layers do. `function`: the function whose body has the node; empty: the main graph. A
  // node that is not in the file's graph, but in a scope of a layer, belongs to that layer. So does
  // a node of the main graph that is named like the copy that inlining makes of a node of a layer,
  // "call/node".
  int LayerOf(llvm::StringRef function, llvm::StringRef node) const;
  int LayerOf(const Node& node) const;
  // Returns the program's name of a layer that is in another one and has no row of its own:
  // "query" for the scope "model_1/attention_1/query_1". Empty if the scope is not such a layer, or if
  // the file does not tell. `function`: the one whose body has the scope; empty: the main graph.
  llvm::StringRef NameOfSublayer(llvm::StringRef function, llvm::StringRef scope) const;
  // True if `layer` is `outer` or one of the layers in it.
  bool IsIn(int layer, int outer) const;

  // Returns a name that only this layer has: "encoder/conv". Of layers with the same name in the
  // same model, the second is "conv#2".
  std::string PathOf(int layer) const;
  // Returns the last part of PathOf: "conv", "conv#2".
  std::string LabelOf(int layer) const;
  // Returns the layer with this path; -1 if there is none.
  int Find(llvm::StringRef path) const;

  // Counts the variables of a layer, with those of its nested layers; with -1, those of all layers
  // and of the model itself. A variable that layers share counts once.
  ParameterCount ParametersOf(int layer) const;

 private:
  friend class LayerTableWriter;
  int LayerIn(llvm::StringRef function, llvm::StringRef node) const;
  int LayerOfInlined(llvm::StringRef node) const;

  std::string model_;
  std::vector<ModelLayer> layers_;
  std::vector<LayerVariable> variables_;
  std::vector<int> of_model_;  // variables that belong to the model and to no layer
  llvm::StringMap<llvm::StringMap<int>> nodes_, scopes_;     // layers by function and name
  llvm::StringMap<int> functions_;                           // functions that only one layer calls
  llvm::StringMap<llvm::StringMap<std::string>> sublayers_;  // names by function and scope
};

// Finds the layers of a model:
//
// - Those that the object graph states, with names and classes: Keras 2 (`model.save`), and the
//   attributes of a tf.Module that have variables. A module's nodes have no scopes that name it, so
//   they are found by the variables that they read.
// - Otherwise name scopes. A scope is a layer if it reads variables, or if it is beside scopes that
//   do. In a Keras 3 export, which states nothing, each call of a layer has a scope, and the names
//   of variables tell nested models from layers that contain layers. Layers of a functional model
//   are in Keras's order, which follows from the edges between them, and include operators between
//   layers, as the summary does.
//
// A layer that left neither nodes nor variables, such as an input or Keras 3's Dropout, is not in
// the table. `file` may be a whole SavedModel (the table then covers all its signatures; the order
// of layers is that of the default signature), the network of a signature, or any other graph.
// Linear in nodes, except for the order.
LayerTable LayersOf(const GraphInFile& file);
// Finds the layers of a graph of which nothing else is known. Copies it.
LayerTable LayersOf(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_LAYERS_H_
