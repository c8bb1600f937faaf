// Hashes function bodies by what they compute: equal hashes mean copies.
#ifndef GRAPNEL_LIB_LIBRARY_BODY_HASH_H_
#define GRAPNEL_LIB_LIBRARY_BODY_HASH_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Returns the hash of each function of the module, in order. Equal hashes mean: the same ops,
// attributes, values of constants and wiring, on arguments of the same dtypes, with called
// functions compared by their bodies and by the attributes passed to them. Names, devices, the
// order of nodes, shapes of arguments and attributes that begin with _ do not count. The hashes are
// the same in every run. Cost: linear in nodes, edges and the bytes of constants. Recursive
// functions, chains of more than 256 calls, and cycles that are not TensorFlow 1 loops are hashed
// only in part.
std::vector<uint64_t> BodyHashes(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_BODY_HASH_H_
