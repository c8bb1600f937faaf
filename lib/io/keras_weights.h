// Weights that Keras 3 saved: .weights.h5 files, and .keras archives, which hold one.
#ifndef GRAPNEL_LIB_IO_KERAS_WEIGHTS_H_
#define GRAPNEL_LIB_IO_KERAS_WEIGHTS_H_

#include <string>
#include <vector>

#include "lib/io/hdf5.h"
#include "lib/io/variable_binding.h"

namespace grapnel {

// Whether the file is one, by its first bytes.
bool IsKerasFile(llvm::StringRef path);

// Layout (keras/src/saving/saving_lib.py): a layer is a group, its variables are the arrays
// "vars/0", "vars/1" in it, in the order of layer.weights; "vars" has the layer's name as an
// attribute. Layers lie in groups by their kind and number ("layers/dense_1"). Move-only.
class KerasWeights {
 public:
  // Errors, which do not name the file: it is damaged, or not written by Keras 3.
  static Expected<KerasWeights> Open(llvm::StringRef path);
  static Expected<KerasWeights> FromFile(const std::shared_ptr<const FileBytes>& file);

  // A variable of the model is found by its layer, "net/block/dense_1" of "net/block/dense_1/bias":
  // the layer of the same name, else the one that is as far along among those whose names differ in
  // numbers alone; and by its place among the layer's variables, as the object graph has them.
  // Errors: the object graph is damaged.
  Expected<VariableBinding> Bind(const GraphInFile& graph) const;
  Expected<Literal> Read(const std::string& key) const;  // of Bound::key

 private:
  struct Layer {
    std::string name;  // with those that it lies in, but for the model: "block/dense_1"
    std::vector<std::string> keys;  // of its variables
  };
  void FindLayers();
  // The layer of each name, by its number; -1: none.
  std::vector<int> LayersLike(llvm::ArrayRef<std::string> wanted) const;
  // Why the layer found for `wanted` cannot have so many variables, or an array be that variable's
  // value; empty: it can.
  std::string WhyNotLike(const Layer* layer, llvm::StringRef wanted, size_t variables) const;
  std::string WhyNoArray(const SavedVariable& variable, const std::string& key) const;

  std::string model_name_;  // "sequential"
  Hdf5File file_;
  std::vector<Layer> layers_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_KERAS_WEIGHTS_H_
