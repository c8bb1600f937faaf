// What a tensor holds, as numbers about its numbers.
#ifndef GRAPNEL_LIB_WATCH_TENSOR_SUMMARY_H_
#define GRAPNEL_LIB_WATCH_TENSOR_SUMMARY_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// Each reads all elements of a tensor in host memory. Errors: it holds no real numbers.

// The two tables of tfdbg's print_tensor -s: how many elements are NaN, -inf, negative, zero,
// positive and +inf; the least, the largest, mean and standard deviation of the finite ones.
Expected<std::string> NumericSummary(const Tensor& tensor);
// The finite elements in `bins` ranges of one width, a bar each; then how many are none.
Expected<std::string> HistogramText(const Tensor& tensor, int bins);
// A line for each index along `axis` (negative: from the last), at most `limit` of them: least,
// largest, mean and standard deviation of the finite elements, and how many are NaN, infinite and
// zero.
Expected<std::string> ChannelsText(const Tensor& tensor, int axis, int64_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_SUMMARY_H_
