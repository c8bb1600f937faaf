// Makes tensors from values that users type into the page, or from a kind of filling.
#ifndef GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_
#define GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_

#include <cstdint>

#include "lib/exec/tensor.h"

namespace grapnel {

constexpr int64_t kLargestFill = int64_t{1} << 28;  // bytes of a tensor

enum class Fill { kZeros, kOnes, kNormal };

// Parses a shape: "1,28,28,1", "[1,28]" or "" (a scalar). Errors quote an invalid dimension.
Expected<Dims> ParseDims(llvm::StringRef text);

// Parses a value: "[[1, 2.5], [-3, nan]]", "true", "\"text\"". Brackets give the shape, except that
// a single element without brackets is repeated to fill the shape `dims`, and a flat list of the
// right length gets the shape `dims`. Errors: text that is not a value of `dtype`, a dtype whose
// values cannot be typed, lists of different lengths or nested too deep, more than kLargestFill
// bytes.
Expected<Tensor> ParseTypedValue(llvm::StringRef text, DataType dtype,
                                 llvm::ArrayRef<int64_t> dims);

// Returns a tensor of zeros, ones or normally distributed random numbers, which depend only on the
// seed. Strings are "" for zeros and "1" for ones. Random integers are absolute values of normal
// numbers, rounded down. Errors: more than kLargestFill bytes, a dtype that has no such elements,
// random strings.
Expected<Tensor> FilledTensor(Fill fill, DataType dtype, llvm::ArrayRef<int64_t> dims,
                              uint64_t seed);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_TYPED_VALUE_H_
