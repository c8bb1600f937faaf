// Hashes of a node's surroundings that depend on no names and no order of nodes.
#ifndef GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_
#define GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_

#include <vector>

#include "lib/diff/body_view.h"

namespace grapnel {

struct ConeHashes {
  std::vector<uint64_t> hash;
  std::vector<uint32_t> size;  // nodes, shared ones counted each time; kLargeCone at most
};
constexpr uint32_t kLargeCone = 1000;

// Hashes everything that a node is computed from, down to placeholders and constants. Equal hashes:
// the same computation. Nodes on a cycle that is not a v1 loop hash their surroundings a few edges
// deep.
ConeHashes HashOfInputs(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls);

// Hashes everything computed from a node, up to the outputs, but not the readers' other inputs.
ConeHashes HashOfReaders(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls);

// Hashes everything within `radius` edges, in both directions. Linear in edges times radius.
std::vector<uint64_t> HashAround(const BodyView& view, std::vector<uint64_t> labels, int radius,
                                 bool controls);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_
