// Python structures that a SavedModel stores as data: the arguments and results of its functions,
// as nested lists, tuples and dicts of types and of Python values.
#ifndef GRAPNEL_LIB_IO_PYTHON_STRUCTURE_H_
#define GRAPNEL_LIB_IO_PYTHON_STRUCTURE_H_

#include <string>
#include <vector>

#include "lib/io/open.h"

namespace grapnel {

namespace proto {
class StructuredValue;
}

// The leaves of a structure, in the order of tf.nest.flatten: the entries of a dict by key.
struct FlatStructure {
  struct Value {
    std::string key, text;  // "x.1", "True"
  };
  // The tensors; SignatureTensor::tensor is empty. A sparse, ragged or other composite tensor has
  // an entry for each of its components: "ids:indices", "ids:values", "ids:dense_shape"; of a
  // component whose type is not known, the dtype is DT_INVALID.
  std::vector<SignatureTensor> tensors;
  std::vector<Value> values;  // the Python values; TensorFlow traces a function anew for each
};

// Returns "float[?,3]"; "float" for a tensor of any shape.
std::string TypeText(DataType dtype, const Shape& shape);

// Returns a type or value as text: "float[?,3]", "{a: float[2], b: (int32[], 'mean')}", "ragged
// string[?,?]", "None", "True". A dtype without a shape is a tensor of any shape.
std::string StructureText(const proto::StructuredValue& structure);

// Adds the leaves of `structure`, whose name is `key`, to `flat`. Keys below it are "key.0" in a
// list or tuple, and "key.name" in a dict or named tuple.
void FlattenStructure(const proto::StructuredValue& structure, llvm::StringRef key,
                      FlatStructure* flat);

// Returns the leaves of what a function returns, with TensorFlow's keys: those of a dict or named
// tuple, "output_0", "output_1", ... for a list or tuple, "output_0" for any other value except
// None.
FlatStructure FlattenResults(const proto::StructuredValue& structure);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_PYTHON_STRUCTURE_H_
