// The layers while LayersOf finds them, body by body.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_DRAFT_H_
#define GRAPNEL_LIB_IO_LAYERS_DRAFT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/io/layers/scopes.h"

namespace grapnel {

struct DraftLayer {
  std::string name, class_name;
  int parent = -1;
  bool is_model = false;
  // True for a functional model of Keras: its layers are in the order of the edges between them.
  bool is_functional = false;
  bool is_operator = false;    // an operator of a functional model, such as x + y
  bool has_scopes = true;      // false: its nodes are found by the variables that they read
  std::vector<int> variables;  // indices into the model's parameters
};

// The nodes and scopes of layers in one body.
struct BodyLayers {
  explicit BodyLayers(const LayerBody& of) : body(&of), scopes(of) {
    of_node.assign(of.graph->end_id(), -1);
    of_call.assign(scopes.size(), -1);
    of_scope.assign(scopes.size(), -1);
  }

  const LayerBody* body;
  NameScopes scopes;
  std::vector<int> of_node;   // the innermost layer of a node, by id; -1: none
  std::vector<int> of_call;   // by scope: the layer of which the scope is a call; -1: none
  std::vector<int> of_scope;  // by scope: the layer of its nodes, unless of_node differs; -1: none
  // By scope, NamesOfCalls if Keras 3 made the scopes; empty: it did not.
  std::vector<std::string> names;
};

class Draft {
 public:
  std::vector<DraftLayer> layers;    // a nested model before its layers
  std::string model_name;            // empty: unknown
  bool model_is_functional = false;  // DraftLayer::is_functional of the model itself

  // Returns the layer with the name in `parent`, which it adds if there is none.
  int FindOrAdd(int parent, llvm::StringRef name);
  int Add(int parent, llvm::StringRef name);
  // Returns the layer directly in `parent` that is `layer` or contains it; -1 if there is none.
  int ChildOf(int parent, int layer) const;
  // Returns the innermost layer that contains both; -1: only the model does.
  int Common(int a, int b) const;
  // Returns the layer directly in `parent` to which the node belongs, and a number for its call:
  // nodes of one call of one layer have the same pair. The layer is -1 if there is none.
  std::pair<int, int> CallOf(const BodyLayers& found, int parent, NodeId node) const;

 private:
  // The first layer of each parent and name, among the first `num_listed_` ones.
  std::map<std::pair<int, std::string>, int> by_name_;
  size_t num_listed_ = 0;
};

// Gives nodes between layers that only prepare values for others to the layer of their readers, if
// all readers are in one layer: constants, casts of inputs, and nodes that only forward values.
void GiveHelpersToReaders(const Draft& draft, BodyLayers* found);

// True for ops that compute nothing: constants, casts, nodes that only forward values.
bool IsHelper(llvm::StringRef op);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_DRAFT_H_
