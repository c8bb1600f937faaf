// Matches names of variables or layers that differ only in the numbers that Keras gives to layers
// of one type.
#ifndef GRAPNEL_LIB_IO_NAME_MATCH_H_
#define GRAPNEL_LIB_IO_NAME_MATCH_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Returns, for each of `names`, the index of the matching name in `others`, or -1. Consider the
// names that differ only in numbers ("net/dense_3" and "net_1/dense_12"): if `others` has all of
// them, or has a different count of them, equal names match; otherwise the first matches the first
// and so on, in the order of their numbers, which is the order of layer creation. Neither list may
// have duplicates.
std::vector<int> MatchNames(llvm::ArrayRef<std::string> names, llvm::ArrayRef<std::string> others);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_NAME_MATCH_H_
