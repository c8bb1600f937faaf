// Siblings that are built alike: block_1 ... block_16, each of the same ops wired the same way.
#ifndef GRAPNEL_LIB_RENDER_SERIES_H_
#define GRAPNEL_LIB_RENDER_SERIES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// A name without the number it ends in: "block" of "block_12", "AddN" of "AddN" and of "AddN_3".
llvm::StringRef NameStem(llvm::StringRef name);

// One hash for each scope of a tree: equal where scopes hold the same ops with the same edges among
// them, and where names count under the same names, but for numbers in them. What enters and leaves
// them does not count.
class ScopeStructures {
 public:
  // By scope: the parent, which comes first, and where in its nodes' names their own part begins.
  // By node: the scope it lies in, kNone for one that is in no scope. Linear in names and edges,
  // times the depth of the tree.
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct ScopeName {
    uint32_t parent;
    llvm::StringRef path;
    size_t name_from;
  };
  ScopeStructures(const Graph& graph, llvm::ArrayRef<ScopeName> scopes,
                  llvm::ArrayRef<uint32_t> scope_of, bool names);

  size_t size() const { return hash_.size(); }

  uint64_t HashOf(uint32_t scope) const { return hash_[scope]; }

 private:
  std::vector<uint64_t> hash_;
};

// Something that may be in a series: members with the same key may.
struct SeriesCandidate {
  std::string stem;
  uint64_t structure;
  bool operator==(const SeriesCandidate& other) const = default;
};

// Lists of members, each a series of at least `smallest`. What flows out of one of its members into
// a member that is none of them does not flow back into it, so a series drawn as one box still has
// its readers below it. `edges` run between members. Linear in edges for each series.
std::vector<std::vector<uint32_t>> FindSeries(llvm::ArrayRef<SeriesCandidate> members,
                                              llvm::ArrayRef<std::pair<uint32_t, uint32_t>> edges,
                                              size_t smallest);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SERIES_H_
