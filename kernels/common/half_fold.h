// Sums and products of many numbers of 16 bits in the order, and with the rounding at each step, of
// TensorFlow's CPU kernels: eight lanes, four of them at a time. With any other order the last bits
// of a sum of 16-bit numbers are others.
#ifndef GRAPNEL_KERNELS_COMMON_HALF_FOLD_H_
#define GRAPNEL_KERNELS_COMMON_HALF_FOLD_H_

#include "kernels/common/dispatch.h"

namespace grapnel {

// kSumOneByOne is that of a mean that counts as it goes: never four at a time.
enum class HalfFold { kSum, kProduct, kSumOneByOne };

// T is half or bfloat16. Of n that lie one after the other. `first` is how many elements of the
// tensor lie before them: long rows are cut where a lane of the whole tensor starts.
template <typename T>
float FoldRow(HalfFold fold, const T* in, int64_t n, int64_t first = 0);

// out[j] of element j of each of `rows` rows, `stride` elements apart, for eight neighbors ...
template <typename T>
void FoldEightColumns(HalfFold fold, const T* in, int64_t rows, int64_t stride, float* out);
// ... and for one column, which TensorFlow takes element after element.
template <typename T>
float FoldColumn(HalfFold fold, const T* in, int64_t rows, int64_t stride);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_HALF_FOLD_H_
