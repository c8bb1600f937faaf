// The numbers of a tensor in one C++ type, whatever its dtype, for a debugger's computations.
#ifndef GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_
#define GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_

#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// Row-major. A long double holds every number of every real dtype exactly, including 64-bit
// integers.
struct NumberArray {
  using Number = long double;

  DataType dtype = proto::DT_DOUBLE;
  Dims dims;
  std::vector<Number> values;
  std::vector<Number> imaginary;  // for complex dtypes, the same number; else empty
  // A literal number: an operation takes the dtype of the other operand, a tensor, as in NumPy.
  bool is_weak = false;

  bool IsComplex() const { return !imaginary.empty(); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
};

// Returns the elements of a tensor in host memory. Errors: strings, variants, resources. Cost:
// linear.
Expected<NumberArray> NumbersOf(const Tensor& tensor);
// The same; complex numbers are an error too.
Expected<NumberArray> RealNumbers(const Tensor& tensor);
// Returns a tensor of the array's dtype; unrepresentable numbers become the nearest, as in a cast.
Expected<Tensor> TensorOf(const NumberArray& array);

// Returns `number` as the dtype holds it: rounded to a float's precision, or clamped to an
// integer's range.
NumberArray::Number RoundTo(DataType dtype, NumberArray::Number number);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_
