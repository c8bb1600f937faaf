// Name scopes as blocks that are identified by what they compute, in any model.
#ifndef GRAPNEL_LIB_DIFF_SCOPE_HASH_H_
#define GRAPNEL_LIB_DIFF_SCOPE_HASH_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct ScopeBlock {
  llvm::StringRef path;  // "a/b"; "": the whole body
  int64_t nodes;         // at any depth
  uint64_t hash;
};

// Returns the scopes of each body, the main graph first and then the functions in order; scopes in
// the order in which they are found. A scope is left out if all of its nodes lie in one scope below
// it: both would be the same block.
//
// Equal hashes mean the same ops, attributes, wiring, and dtypes and shapes of constants, and the
// same inputs that share a tensor. Names, devices, constants' values, the order of nodes and
// readers of the block's outputs do not count. The same on every machine. Functions count by their
// bodies, but those in a cycle of calls only in part.
//
// Paths are borrowed from the module. Cost: nodes and edges, times the scopes that each lies in.
std::vector<std::vector<ScopeBlock>> ScopeBlocks(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_SCOPE_HASH_H_
