// Numbers that a debugger computes with: a tensor's elements in one C++ type, whatever its dtype.
#ifndef GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_
#define GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_

#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// Row-major. A long double holds every number of every real dtype exactly, 64-bit integers too.
struct NumberArray {
  using Number = long double;

  DataType dtype = proto::DT_DOUBLE;
  Dims dims;
  std::vector<Number> values;
  std::vector<Number> imaginary;  // of complex dtypes, as many; else empty
  // A number that was typed: beside a tensor it takes that one's dtype, as in NumPy.
  bool is_weak = false;

  bool IsComplex() const { return !imaginary.empty(); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
};

// The elements of a tensor in host memory. Errors: strings, variants, resources. Cost: linear.
Expected<NumberArray> NumbersOf(const Tensor& tensor);
// The same; complex numbers are an error, too.
Expected<NumberArray> RealNumbers(const Tensor& tensor);
// A tensor of the array's dtype; numbers that it lacks become the nearest, as a cast does.
Expected<Tensor> TensorOf(const NumberArray& array);

// `number` as the dtype holds it: rounded to a float's precision, cut to an integer's range.
NumberArray::Number RoundTo(DataType dtype, NumberArray::Number number);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_
