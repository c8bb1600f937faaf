// Siblings cut along the data flow: parts that no path leaves and enters again.
#ifndef GRAPNEL_LIB_RENDER_FLOW_PARTS_H_
#define GRAPNEL_LIB_RENDER_FLOW_PARTS_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_order.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct FlowMember {
  uint64_t structure;    // equal for those that are built alike
  uint32_t size;         // in ops
  llvm::StringRef name;  // what names it among its siblings
};

// One part: its members in the order of the flow. A series has several, equal ones one after the
// other: the same members wired the same way.
struct FlowPart {
  std::vector<std::vector<uint32_t>> repeats;
};

// What `name` begins with, up to the last '_' behind a digit, that at least three of the names
// begin with: "block_3_" of "block_3_expand_bn". Empty: there is none.
class NameWords {
 public:
  explicit NameWords(llvm::ArrayRef<FlowMember> members);
  // By member.
  llvm::StringRef Of(uint32_t member) const { return words_[member]; }
  // What those that have any share, up to such a '_'.
  llvm::StringRef Common(llvm::ArrayRef<uint32_t> members) const;

 private:
  std::vector<llvm::StringRef> words_;
};

// Cuts where the fewest members are read beyond the cut, so that what lies between two merges, a
// layer or a block is one piece; large pieces again where fewest cross inside; then joins what is
// named alike, makes series of what repeats, and joins the smallest neighbors of which one reads
// the other until there are at most `most`. Members without a cycle give parts without a cycle, in
// an order in which each comes after what it reads. Every part is connected, and there are up to
// twice as many; where even that is too few, members that have nothing to do with one another share
// a part. n log n in members and edges.
std::vector<FlowPart> FlowParts(llvm::ArrayRef<FlowMember> members, const FlowEdges& edges,
                                uint32_t most);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_PARTS_H_
