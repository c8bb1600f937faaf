// Names that are the same but for the numbers that Keras gives to layers of one kind.
#ifndef GRAPNEL_LIB_IO_NAME_MATCH_H_
#define GRAPNEL_LIB_IO_NAME_MATCH_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// For each of `names` its like among `others`, or -1. Of names that differ in numbers alone
// ("net/dense_3" and "net_1/dense_12") the same ones are alike, if all of them are there or others
// are more or fewer; else those that are as far along in the order of the numbers, which is that in
// which layers were made. Each list has a name once.
std::vector<int> MatchNames(llvm::ArrayRef<std::string> names, llvm::ArrayRef<std::string> others);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_NAME_MATCH_H_
