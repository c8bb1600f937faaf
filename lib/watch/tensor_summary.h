// Statistics of the values of a tensor.
#ifndef GRAPNEL_LIB_WATCH_TENSOR_SUMMARY_H_
#define GRAPNEL_LIB_WATCH_TENSOR_SUMMARY_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// Each of these functions reads all elements of a tensor in host memory. Errors: the tensor does
// not hold real numbers; for ChannelsText(), `axis` is out of range.

// Returns the two tables of tfdbg's print_tensor -s: the numbers of elements that are NaN, -inf,
// negative, zero, positive and +inf; the minimum, maximum, mean and standard deviation of the
// finite elements. Counts of 0 are omitted, and the second table if no element is finite; for bool,
// returns only the numbers of False and True.
Expected<std::string> NumericSummary(const Tensor& tensor);
// Returns a histogram of the finite elements in `bins` ranges of equal width (one if all are
// equal), a bar for each, and the number of elements that are not finite.
Expected<std::string> HistogramText(const Tensor& tensor, int bins);
// Returns a line for each index along `axis` (negative axes count from the last), at most `limit`
// lines: minimum, maximum, mean and standard deviation of the finite elements, and how many are
// NaN, infinite and zero.
Expected<std::string> ChannelsText(const Tensor& tensor, int axis, int64_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_SUMMARY_H_
