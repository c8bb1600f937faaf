// Name scopes as blocks that are known by what they compute, in whatever model they are.
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

// Of each body, the main graph first and then the functions in their order, the scopes in the order
// in which they are found. A scope whose nodes all lie in one scope below it is left out: it is
// that block once more.
//
// Equal hashes: the same ops, attributes, wiring, and dtypes and shapes of constants. Names,
// devices, constants' values, the order of nodes and what reads the block's outputs take no part;
// which of its inputs are one tensor does. The same on every machine. Functions count by their
// bodies, but those of a circle of calls only in part.
//
// Paths are borrowed. Cost: nodes and edges, times the scopes that each lies in.
std::vector<std::vector<ScopeBlock>> ScopeBlocks(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_SCOPE_HASH_H_
