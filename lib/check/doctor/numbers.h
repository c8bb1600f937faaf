// Statistics of tensors for the checks of `doctor`.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_NUMBERS_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_NUMBERS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Statistics of finite elements, except for `bad`.
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
// Reads real numbers and bool in host memory; empty for other dtypes. One pass.
Tally TallyOf(const Tensor& tensor);

// Visits every element in order, as double; none for complex numbers, text and objects.
void ForEachNumber(const Tensor& tensor, llvm::function_ref<void(double)> visit);

// Returns the norm of a - b; infinity if their shapes differ.
double DistanceOf(const Tensor& a, const Tensor& b);

// Returns three digits: "0.00123", "1.2e+05".
std::string Short(double number);
std::string Percent(double share);  // "83 %"

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_NUMBERS_H_
