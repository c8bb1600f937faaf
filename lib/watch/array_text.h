// Tensors as NumPy prints them.
#ifndef GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_
#define GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_

#include <string>

#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// numpy.set_printoptions(), with its defaults.
struct ArrayTextOptions {
  int precision = 8;         // digits after the point, at most
  int64_t threshold = 1000;  // more elements than these are summarized
  int64_t edge_items = 3;    // shown at each end of a dimension that is summarized
  int line_width = 75;       // columns
};

// Elements for which it is true are put between `kMarkBegin` and `kMarkEnd`, which take no column.
using MarkElement = llvm::function_ref<bool(int64_t flat)>;
constexpr char kMarkBegin = '\x01', kMarkEnd = '\x02';

// repr() of the array in NumPy 2.4: `array([[1. , 0.5]], dtype=float32)`. Strings are as TensorFlow
// gives them, `array([b'a'], dtype=object)`; a bfloat16 or 8-bit float in as few digits as tell it
// from its neighbors. Variants and resources, which NumPy has not, are what they hold, a line
// each: `<list of 3 float[2]>`. The tensor lies in host memory. Cost: that of what is shown, where
// it is summarized.
std::string ArrayText(const Tensor& tensor, const ArrayTextOptions& options = {},
                      MarkElement mark = nullptr);

// str() of it: `[[1.  0.5]]`.
std::string ArrayString(const Tensor& tensor, const ArrayTextOptions& options = {});

// One element by itself, as in the text of a 0-dimensional array: "0.25", "True", "b'a'".
std::string ElementText(const Tensor& tensor, int64_t flat);

// NumPy's name of a dtype: "float32", "bool", "object" of strings.
std::string NumPyTypeName(DataType dtype);
// "(2, 3)", "(2,)", "()".
std::string NumPyShapeText(llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_
