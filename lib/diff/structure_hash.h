// What surrounds a node, as hashes that no name and no order of nodes takes part in.
#ifndef GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_
#define GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_

#include <vector>

#include "lib/diff/body_view.h"

namespace grapnel {

struct ConeHashes {
  std::vector<uint64_t> hash;
  std::vector<uint32_t> size;  // of the cone, shared parts counted each time, kLargeCone at most
};
constexpr uint32_t kLargeCone = 1000;

// All that a node is made from, to the placeholders and constants. Equal: the same computation.
// Nodes on a cycle that is no v1 loop get their surroundings to a few edges' depth.
ConeHashes HashOfInputs(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls);

// All that is made from a node, to the outputs. What else its readers read takes no part.
ConeHashes HashOfReaders(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls);

// All within `radius` edges, in both directions. Linear in edges times radius.
std::vector<uint64_t> HashAround(const BodyView& view, std::vector<uint64_t> labels, int radius,
                                 bool controls);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STRUCTURE_HASH_H_
