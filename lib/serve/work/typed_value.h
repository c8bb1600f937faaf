// Values that users type into the page, or fill in.
#ifndef GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_
#define GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_

#include <cstdint>

#include "lib/exec/tensor.h"

namespace grapnel {

constexpr int64_t kLargestFill = int64_t{1} << 28;  // bytes

enum class Fill { kZeros, kOnes, kNormal };

// Parses "1,28,28,1", "[1,28]" or "" (a scalar). Errors quote what is not a dimension.
Expected<Dims> ParseDims(llvm::StringRef text);

// Parses "[[1, 2.5], [-3, nan]]", "true", "\"text\"": brackets give the shape. A single element
// fills `dims`, and a flat list of the right length gets the shape `dims`. Errors: text that is not
// a value of `dtype`, lists of different lengths, more than kLargestFill.
Expected<Tensor> ParseTypedValue(llvm::StringRef text, DataType dtype,
                                 llvm::ArrayRef<int64_t> dims);

// Random numbers are the same for the same seed; integers are absolute values, rounded down.
// Errors: more than kLargestFill, a dtype without numbers.
Expected<Tensor> FilledTensor(Fill fill, DataType dtype, llvm::ArrayRef<int64_t> dims,
                              uint64_t seed);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_
