// Aligns the elements of two lists of different lengths.
#ifndef GRAPNEL_LIB_DIFF_ALIGNMENT_H_
#define GRAPNEL_LIB_DIFF_ALIGNMENT_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

// Pairs of an index in list A and an index in list B; nullopt: that list lacks the element.
using Aligned = llvm::SmallVector<std::pair<std::optional<size_t>, std::optional<size_t>>, 4>;

// Pairs 0 with 0, 1 with 1, and so on.
Aligned InPlace(size_t count);

// Pairs as many equal elements as possible, in order. Elements between two equal pairs are paired
// in order as long as both lists have some. Time and memory grow with the product of the lengths
// without the equal prefix and suffix; if the product is above a million, these elements are paired
// in order.
Aligned Align(size_t a, size_t b, llvm::function_ref<bool(size_t a, size_t b)> same);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_ALIGNMENT_H_
