// Weights saved by Keras 3: .weights.h5 files, and .keras archives, which contain one.
#ifndef GRAPNEL_LIB_IO_KERAS_WEIGHTS_H_
#define GRAPNEL_LIB_IO_KERAS_WEIGHTS_H_

#include <string>
#include <vector>

#include "lib/io/hdf5.h"
#include "lib/io/variable_binding.h"

namespace grapnel {

// True if the first bytes of the file are those of an HDF5 file or a zip archive, the formats of
// .weights.h5 and .keras files.
bool IsKerasFile(llvm::StringRef path);

// Layout of a file (keras/src/saving/saving_lib.py): a layer is a group; the layer's variables are
// the arrays "vars/0", "vars/1" in that group, in the order of layer.weights; the group "vars" has
// the layer's name as an attribute. Layers are in groups by type and number ("layers/dense_1").
class KerasWeights {
 public:
  // Opens a file. Only the error for a file that cannot be opened names the file; the others, for
  // example for a file that Keras 3 did not write, do not.
  static Expected<KerasWeights> Open(llvm::StringRef path);
  static Expected<KerasWeights> FromFile(const std::shared_ptr<const FileBytes>& file);

  // Assigns an array of the file, or the reason why there is none, to each variable of the model. A
  // variable "net/block/dense_1/bias" belongs to the layer "net/block/dense_1"; its index within
  // the layer comes from the object graph. MatchNames (lib/io/name_match.h) finds the layer in the
  // file, by a name with or without the model's. Fails if the object graph is damaged.
  Expected<VariableBinding> Bind(const GraphInFile& graph) const;
  // Returns the value of an array; `key` is that of a VariableBinding::Bound.
  Expected<Literal> Read(const std::string& key) const;

 private:
  struct Layer {
    std::string name;               // with the enclosing layers, without the model: "block/dense_1"
    std::vector<std::string> keys;  // the paths of its variables' arrays
  };
  void FindLayers();
  // Returns, for each name in `wanted`, the index of the layer of that name in the file, or of one
  // whose name differs only in numbers (see MatchNames); -1 if there is no such layer.
  std::vector<int> LayersLike(llvm::ArrayRef<std::string> wanted) const;
  // WhyNotLike: the reason why `layer`, found for the name `wanted`, cannot be that layer: it is
  // null, or it does not have `variables` variables. WhyNoArray: the reason why the array `key`
  // cannot be the variable's value. Empty if there is no reason.
  std::string WhyNotLike(const Layer* layer, llvm::StringRef wanted, size_t variables) const;
  std::string WhyNoArray(const SavedVariable& variable, const std::string& key) const;

  std::string model_name_;  // "sequential"
  Hdf5File file_;
  std::vector<Layer> layers_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_KERAS_WEIGHTS_H_
