// Sums and products of many 16-bit floats in the order, and with the rounding, of TensorFlow's CPU
// kernels: eight lanes, unrolled four times. Any other order changes the last bits.
#ifndef GRAPNEL_KERNELS_COMMON_HALF_FOLD_H_
#define GRAPNEL_KERNELS_COMMON_HALF_FOLD_H_

#include "kernels/common/dispatch.h"

namespace grapnel {

// kSumOneByOne is the sum within a mean. It differs from kSum only in FoldEightColumns, where
// TensorFlow's loop also counts the elements and is never unrolled.
enum class HalfFold { kSum, kProduct, kSumOneByOne };

// Folds a row of n adjacent elements. T is half or bfloat16. `first` is the number of elements of
// the tensor before the row: long rows are split at a multiple of the lane count, counted from the
// start of the tensor.
template <typename T>
float FoldRow(HalfFold fold, const T* in, int64_t n, int64_t first = 0);

// Folds eight neighboring columns: out[j] is the fold of element j of `rows` rows that are `stride`
// elements apart.
template <typename T>
void FoldEightColumns(HalfFold fold, const T* in, int64_t rows, int64_t stride, float* out);
// Folds one column, which TensorFlow does element by element.
template <typename T>
float FoldColumn(HalfFold fold, const T* in, int64_t rows, int64_t stride);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_HALF_FOLD_H_
