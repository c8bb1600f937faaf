// Hashes of name scopes: each hash identifies a block (the nodes of a scope) by what it computes,
// in any model.
#ifndef GRAPNEL_LIB_DIFF_SCOPE_HASH_H_
#define GRAPNEL_LIB_DIFF_SCOPE_HASH_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct ScopeBlock {
  llvm::StringRef path;  // "a/b"; "": the whole body
  int64_t nodes;         // nodes in the scope and in nested scopes
  uint64_t hash;
};

// Returns the scopes of each body, the main graph first and then the functions in order; scopes in
// the order in which they first occur. Omits a scope if all of its nodes are in one nested scope:
// both would be the same block.
//
// Equal hashes mean the same ops, attributes, wiring, and dtypes and shapes of constants, and that
// the same inputs of the block share a tensor. These do not count: names, devices, private
// attributes (_NAME), values of constants, the order of nodes, control inputs from outside of the
// block, and readers of its outputs. The hashes are the same on every machine. Functions count by
// their bodies, but those in a cycle of calls only in part.
//
// Paths are views of the module's strings. Cost: nodes and edges, times the number of scopes that
// contain each.
std::vector<std::vector<ScopeBlock>> ScopeBlocks(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_SCOPE_HASH_H_
