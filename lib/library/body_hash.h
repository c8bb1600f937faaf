// Bodies of functions by what they compute: equal hashes are copies.
#ifndef GRAPNEL_LIB_LIBRARY_BODY_HASH_H_
#define GRAPNEL_LIB_LIBRARY_BODY_HASH_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Of each function of the module, in its order. Equal: the same ops, attributes, values of
// constants and wiring, on arguments of the same dtypes, with functions that are called counted by
// their own bodies. Names, devices, the order of nodes, shapes of arguments and attributes that
// begin with _ take no part. The same in every run. Cost: linear in nodes, edges and the bytes of
// constants; of functions that call themselves and of cycles that are no loop of TensorFlow 1 only
// a part counts.
std::vector<uint64_t> BodyHashes(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_BODY_HASH_H_
