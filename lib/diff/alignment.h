// Aligns the elements of two lists of different lengths.
#ifndef GRAPNEL_LIB_DIFF_ALIGNMENT_H_
#define GRAPNEL_LIB_DIFF_ALIGNMENT_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

// Indices in A and in B; nullopt: only the other list has the element.
using Aligned = llvm::SmallVector<std::pair<std::optional<size_t>, std::optional<size_t>>, 4>;

// 0 and 0, 1 and 1, ...
Aligned InPlace(size_t count);

// Pairs as many equal elements as possible, in order. Between equal pairs, elements are paired in
// order while both sides have some. Time and memory grow with the product of the lengths left after
// the equal prefix and suffix are cut off; above a million, those elements are paired in order.
Aligned Align(size_t a, size_t b, llvm::function_ref<bool(size_t a, size_t b)> same);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_ALIGNMENT_H_
