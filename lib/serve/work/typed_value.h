// Values that are typed into a page, or filled by it.
#ifndef GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_
#define GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_

#include <cstdint>

#include "lib/exec/tensor.h"

namespace grapnel {

constexpr int64_t kLargestFill = int64_t{1} << 28;  // bytes

enum class Fill { kZeros, kOnes, kNormal };

// "1,28,28,1", "[1,28]" or "" (a scalar). Errors: what is no dimension.
Expected<Dims> ParseDims(llvm::StringRef text);

// "[[1, 2.5], [-3, nan]]", "true", "\"text\"": brackets say the shape. One element alone fills
// `dims`, and a flat list of as many elements is laid out in them. Errors: what is not a value of
// `dtype`, lists of different lengths, more than kLargestFill.
Expected<Tensor> ParseTypedValue(llvm::StringRef text, DataType dtype,
                                 llvm::ArrayRef<int64_t> dims);

// Random numbers are the same for the same seed; integers are magnitudes, rounded down.
// Errors: more than kLargestFill, a dtype without numbers.
Expected<Tensor> FilledTensor(Fill fill, DataType dtype, llvm::ArrayRef<int64_t> dims,
                              uint64_t seed);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_
