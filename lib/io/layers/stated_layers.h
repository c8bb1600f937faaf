// The layers that the object graph of a SavedModel states: those of Keras 2, and the attributes of
// a tf.Module that have variables.
// Private to lib/io.
#ifndef GRAPNEL_LIB_IO_LAYERS_STATED_LAYERS_H_
#define GRAPNEL_LIB_IO_LAYERS_STATED_LAYERS_H_

#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

namespace proto {
class SavedObjectGraph;
}

struct StatedLayer {
  std::string name;        // Keras's name, or the path of attributes: "dense1", "blocks/0"
  std::string class_name;  // empty: not stated
  int parent = -1;
  bool is_model = false;
  bool is_keras = false;       // its nodes have a scope with its name
  std::vector<int> variables;  // indices of objects
};

struct StatedLayers {
  std::string model;                // the name of a Keras model; empty: not one
  std::vector<StatedLayer> layers;  // in the model's order, a nested model before its layers
  std::vector<int> variables;       // objects that belong to the model itself
  // The names of variables in a tf.Module by object: "dense1/kernel".
  std::map<int, std::string> variable_names;
};

// Reads the layers; none if the object graph has none, as an export of Keras 3. `keras_metadata`:
// the contents of Keras 2's file keras_metadata.pb; empty: none. Ignores what is damaged: missing
// objects, cycles, texts that are not JSON.
StatedLayers ReadStatedLayers(const proto::SavedObjectGraph& saved, llvm::StringRef keras_metadata);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_STATED_LAYERS_H_
