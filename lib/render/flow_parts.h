// Cuts siblings along the data flow into parts that no path leaves and reenters.
//
// Siblings are the ops and scopes directly in one scope. A part is a set of siblings, contiguous in
// the flow; FlowPiece is a part while it is cut and joined. A series is a run of parts with equal
// structure. A group (lib/render/scope_tree.h) is a scope made from a part, from a series, or from
// siblings with similar names.
#ifndef GRAPNEL_LIB_RENDER_FLOW_PARTS_H_
#define GRAPNEL_LIB_RENDER_FLOW_PARTS_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_order.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct FlowMember {
  uint64_t structure;    // equal values mean equal structure
  uint32_t size;         // in ops: a scope has several
  llvm::StringRef name;  // the name within the scope of the siblings
};

// One part: its members in the order of the flow. A series has several repeats of equal members
// that are connected in the same way, one after the other or, for duplicate branches, side by side.
struct FlowPart {
  std::vector<std::vector<uint32_t>> repeats;
};

// For each name, the longest beginning that ends in '_' after a digit and that at least three of
// the names share: "block_3_" for "block_3_expand_bn"; empty if there is none.
class NameWords {
 public:
  explicit NameWords(llvm::ArrayRef<FlowMember> members);
  // The beginning of a member's name.
  llvm::StringRef Of(uint32_t member) const { return words_[member]; }
  // Returns the longest beginning that ends in '_' after a digit and that Of() has in common for
  // all these members, not counting members for which Of() is empty.
  llvm::StringRef Common(llvm::ArrayRef<uint32_t> members) const;

 private:
  std::vector<llvm::StringRef> words_;
};

// Cuts the flow at the positions across which the fewest members are read, so that the nodes
// between two merges, a layer or a block become one part, and cuts large parts again in the same
// way. Then joins parts with similar names, makes series of repeated parts, and joins the smallest
// neighbors, one of which reads the other, until at most `most` parts are left. Members without a
// cycle give parts without a cycle, in an order in which each comes after its inputs. A part that
// is not a series is connected, so there may be up to 2 * most parts; if even more would be needed,
// unconnected members share a part. Takes n log n time in members and edges.
std::vector<FlowPart> FlowParts(llvm::ArrayRef<FlowMember> members, const FlowEdges& edges,
                                uint32_t most);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_PARTS_H_
