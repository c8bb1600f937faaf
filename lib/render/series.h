// Finds siblings with the same structure: block_1 ... block_16, each with the same ops connected in
// the same way.
#ifndef GRAPNEL_LIB_RENDER_SERIES_H_
#define GRAPNEL_LIB_RENDER_SERIES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Returns a name without its trailing number: "block" for "block_12", "AddN" for "AddN" and for
// "AddN_3".
llvm::StringRef NameStem(llvm::StringRef name);

// A hash for each scope of a tree. Two scopes have equal hashes if they contain the same ops with
// the same edges among these ops and, if `names` is set, the same names except for numbers. Edges
// into and out of the scopes do not count.
class ScopeStructures {
 public:
  // The constructor takes `scopes` in an order in which parents precede children; `name_from` is
  // the length of the prefix that all names in the scope have. `scope_of` is by node id: the node's
  // scope, or kNone for a node in no scope. Takes time linear in names and edges, times the depth
  // of the tree.
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

// A node or scope that may be a member of a series. Candidates with equal stem and structure may
// form a series.
struct SeriesCandidate {
  std::string stem;
  uint64_t structure;
  bool operator==(const SeriesCandidate& other) const = default;
};

// Returns series of at least `smallest` equal members, each as a list of indices. Leaves out a
// series if data flow leaves and reenters it: drawn as one box, it would be both above and below
// its readers. `edges` connect members, by index. Takes time linear in the edges for each series.
std::vector<std::vector<uint32_t>> FindSeries(llvm::ArrayRef<SeriesCandidate> members,
                                              llvm::ArrayRef<std::pair<uint32_t, uint32_t>> edges,
                                              size_t smallest);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SERIES_H_
