// The numbers of a tensor as one C++ type, whatever its dtype, for computations in the debugger.
#ifndef GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_
#define GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_

#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// An array of numbers, row-major, with the dtype of its tensor. A long double represents every
// number of every real dtype exactly, including 64-bit integers.
struct NumberArray {
  using Number = long double;

  DataType dtype = proto::DT_DOUBLE;
  Dims dims;
  std::vector<Number> values;
  std::vector<Number> imaginary;  // as many as `values` if complex; else empty
  // True for a literal number or list, which counts as a Python number does in NumPy. The result of
  // an operation with a tensor has the tensor's dtype if that can hold the kind of number (float or
  // complex for a fraction; any but bool for a whole number), else the literal's dtype.
  bool is_weak = false;

  bool IsComplex() const { return !imaginary.empty(); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
};

// Returns the elements of a tensor in host memory. Errors: there is no value; the dtype is string,
// variant or resource. Cost: linear.
Expected<NumberArray> NumbersOf(const Tensor& tensor);
// Like NumbersOf(), but complex numbers are an error too.
Expected<NumberArray> RealNumbers(const Tensor& tensor);
// Returns a tensor of the array's dtype; numbers that the dtype cannot represent are converted as
// by RoundTo().
Expected<Tensor> TensorOf(const NumberArray& array);

// Returns `number` converted to the dtype: rounded to the precision of a float dtype, or truncated
// and clamped to the range of an integer dtype (NaN to 0); nonzero numbers become 1 for bool.
NumberArray::Number RoundTo(DataType dtype, NumberArray::Number number);

// Returns the dtype of literals that are whole numbers, as NumPy chooses it: int64, or uint64 if
// one of them needs it, or double if no integer dtype has all of them.
DataType WholeDtype(llvm::ArrayRef<NumberArray::Number> numbers);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_NUMBER_ARRAY_H_
