// Matches names of variables or layers that differ only in the numbers that Keras gives to layers
// of one type.
#ifndef GRAPNEL_LIB_IO_NAME_MATCH_H_
#define GRAPNEL_LIB_IO_NAME_MATCH_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Returns, for each of `names`, the index of the matching name in `others`, or -1. Names that
// differ only in numbers ("net/dense_3" and "net_1/dense_12") form a group. If `others` has equally
// many names of the group, but not the same ones, the first name matches the first and so on, in
// the order of their numbers, which is the order in which Keras created the layers. Otherwise only
// equal names match. Neither list may have duplicates.
std::vector<int> MatchNames(llvm::ArrayRef<std::string> names, llvm::ArrayRef<std::string> others);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_NAME_MATCH_H_
