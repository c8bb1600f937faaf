// Matches names that differ only in the numbers that Keras gives to layers of one type.
#ifndef GRAPNEL_LIB_IO_NAME_MATCH_H_
#define GRAPNEL_LIB_IO_NAME_MATCH_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Returns the match in `others` for each of `names`, or -1. Among names that differ in numbers only
// ("net/dense_3" and "net_1/dense_12"), equal names match if all of them are present or the counts
// differ; otherwise names match by position in the order of their numbers, which is the order of
// layer creation. Neither list has duplicates.
std::vector<int> MatchNames(llvm::ArrayRef<std::string> names, llvm::ArrayRef<std::string> others);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_NAME_MATCH_H_
