// Formats tensors as NumPy prints them.
#ifndef GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_
#define GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_

#include <string>

#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The options of numpy.set_printoptions(), with its defaults.
struct ArrayTextOptions {
  int precision = 8;         // digits after the point, at most
  int64_t threshold = 1000;  // larger arrays are summarized
  int64_t edge_items = 3;    // shown at each end of a summarized dimension
  int line_width = 75;       // columns
};

// Marks elements for which it returns true with `kMarkBegin` and `kMarkEnd`, which take no column.
using MarkElement = llvm::function_ref<bool(int64_t flat)>;
constexpr char kMarkBegin = '\x01', kMarkEnd = '\x02';

// Returns NumPy 2.4's repr() of the array: `array([[1. , 0.5]], dtype=float32)`. Strings are
// printed as TensorFlow returns them, `array([b'a'], dtype=object)`; bfloat16 and 8-bit floats with
// as few digits as distinguish them from their neighbors. Variants and resources, which NumPy does
// not have, print what they hold, one on each line: `<list of 3 float[2]>`. The tensor must be in
// host memory. The cost of a summarized array is that of the elements shown.
std::string ArrayText(const Tensor& tensor, const ArrayTextOptions& options = {},
                      MarkElement mark = nullptr);

// Returns its str(): `[[1.  0.5]]`.
std::string ArrayString(const Tensor& tensor, const ArrayTextOptions& options = {});

// Returns one element, as in the text of a 0-dimensional array: "0.25", "True", "b'a'".
std::string ElementText(const Tensor& tensor, int64_t flat);

// Returns NumPy's name of a dtype: "float32", "bool"; "object" for strings.
std::string NumPyTypeName(DataType dtype);
// Returns "(2, 3)", "(2,)", "()".
std::string NumPyShapeText(llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_
