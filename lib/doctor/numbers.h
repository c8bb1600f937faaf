// Statistics of tensors for the checks of `doctor`.
#ifndef GRAPNEL_LIB_DOCTOR_NUMBERS_H_
#define GRAPNEL_LIB_DOCTOR_NUMBERS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Statistics of a tensor's finite elements; `elements`, `bad` and `nan` count all elements.
struct Tally {
  int64_t elements = 0, zero = 0, bad = 0, nan = 0;  // bad: NaN and infinities
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0, sum_of_squares = 0;
  double mean() const { return elements > bad ? sum / (elements - bad) : 0; }
  double deviation() const;
  double norm() const;
  // True if there is more than one element, and all are the same finite number.
  bool IsConstant() const { return elements > 1 && bad == 0 && min == max; }
  Tally& operator+=(const Tally& other);
};
// Returns the statistics of a tensor in host memory, in one pass over its elements; empty if the
// dtype is neither real nor bool.
Tally TallyOf(const Tensor& tensor);

// Calls `visit` with every element, in order, converted to double; not for complex numbers, strings
// and objects.
void ForEachNumber(const Tensor& tensor, llvm::function_ref<void(double)> visit);

// Returns the Euclidean norm of a - b; infinity if the dtypes or shapes of `a` and `b` differ.
// Elements that are not finite do not count, nor do complex numbers, strings and objects.
double DistanceOf(const Tensor& a, const Tensor& b);

// Returns a number with three significant digits: "0.00123", "1.2e+05".
std::string Short(double number);
std::string Percent(double share);  // "83 %"

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_NUMBERS_H_
