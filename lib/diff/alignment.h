// Which elements of two lists stand for one another where one list is longer.
#ifndef GRAPNEL_LIB_DIFF_ALIGNMENT_H_
#define GRAPNEL_LIB_DIFF_ALIGNMENT_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

// Places in A and in B; nullopt: the other list alone has it.
using Aligned = llvm::SmallVector<std::pair<std::optional<size_t>, std::optional<size_t>>, 4>;

// 0 and 0, 1 and 1, ...
Aligned InPlace(size_t count);

// Keeps as many pairs that are the same as there can be, in order; between them elements go in
// order as long as there are some on both sides. Time and memory grow with the product of the parts
// between the ends that are the same; beyond a million those elements go in order.
Aligned Align(size_t a, size_t b, llvm::function_ref<bool(size_t a, size_t b)> same);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_ALIGNMENT_H_
