// Formats tensors as NumPy prints them.
#ifndef GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_
#define GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_

#include <string>

#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The options of numpy.set_printoptions(), with its defaults.
struct ArrayTextOptions {
  int precision = 8;         // most digits after the point
  int64_t threshold = 1000;  // arrays with more elements are summarized
  int64_t edge_items = 3;    // elements shown at each end of a summarized dimension
  int line_width = 75;       // columns
};

// A predicate: elements for which it returns true are printed between `kMarkBegin` and `kMarkEnd`,
// which do not count in the width.
using MarkElement = llvm::function_ref<bool(int64_t flat)>;
constexpr char kMarkBegin = '\x01', kMarkEnd = '\x02';

// Returns NumPy 2.4's repr() of the array: `array([[1. , 0.5]], dtype=float32)`. Strings are
// printed as TensorFlow returns them, `array([b'a'], dtype=object)`; bfloat16 and 8-bit floats with
// as few digits as distinguish them from their neighbors. For variants and resources, which NumPy
// does not have, prints the first `threshold` objects, one on each line: `<list of 3 float[2]>`.
// The tensor must be in host memory. For a summarized array, the cost depends only on the number of
// elements shown.
std::string ArrayText(const Tensor& tensor, const ArrayTextOptions& options = {},
                      MarkElement mark = nullptr);

// Returns NumPy's str() of the array: `[[1.  0.5]]`.
std::string ArrayString(const Tensor& tensor, const ArrayTextOptions& options = {});

// Returns one element as NumPy prints it in the repr() of a 0-dimensional array: "0.25", "1.",
// "True", "b'a'"; an object as "<...>".
std::string ElementText(const Tensor& tensor, int64_t flat);

// Returns NumPy's name of a dtype: "float32", "bool"; "object" for strings.
std::string NumPyTypeName(DataType dtype);
// Returns a shape as NumPy prints it: "(2, 3)", "(2,)", "()".
std::string NumPyShapeText(llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ARRAY_TEXT_H_
