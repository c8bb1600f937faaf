// Hashes of a node's surroundings that do not depend on names or on the order of nodes.
#ifndef GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_
#define GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_

#include <vector>

#include "lib/diff/body_view.h"

namespace grapnel {

struct ConeHashes {
  std::vector<uint64_t> hash;
  std::vector<uint32_t> size;  // in nodes, shared ones counted each time; at most kLargeCone
};
constexpr uint32_t kLargeCone = 1000;

// For each node, hashes everything that it is computed from, up to placeholders and constants.
// Equal hashes mean the same computation. For a node on a cycle that is not a v1 loop, hashes only
// what is a few edges away.
ConeHashes HashOfInputs(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls);

// For each node, hashes everything that is computed from it, up to the outputs, but not the other
// inputs of its readers.
ConeHashes HashOfReaders(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls);

// For each node, hashes everything within `radius` edges, in both directions. Linear in edges times
// radius.
std::vector<uint64_t> HashAround(const BodyView& view, std::vector<uint64_t> labels, int radius,
                                 bool controls);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_
