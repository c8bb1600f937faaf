// Reads from a ledger of rewrites (`opt --ledger`) which nodes were made from which.
#ifndef GRAPNEL_LIB_DIFF_PROVENANCE_H_
#define GRAPNEL_LIB_DIFF_PROVENANCE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/diff/matching.h"
#include "lib/support/error.h"

namespace grapnel {

// Maps nodes of the rewritten graph to the nodes of the original graph that they were made from.
// The result is certain, provided that the ledger belongs to these two graphs.
class Provenance {
 public:
  // `jsonl`: one JSON object per line, as lib/pass writes ledgers. Errors name the line.
  static Expected<Provenance> Parse(llvm::StringRef jsonl);

  // Returns pairs and groups for a body that has the same name in both graphs; nothing for other
  // bodies.
  KnownPairs PairsOf(const BodyView& a, const BodyView& b) const;

 private:
  using Origins = std::set<std::string>;
  struct BodyHistory {
    std::map<std::string, Origins> made;  // new node -> nodes of the original graph
    // For each original node that still exists: the removed original nodes whose work it does now.
    std::map<std::string, Origins> absorbed;
    std::set<std::string> removed;  // original nodes
    void Apply(const std::vector<std::string>& used, const std::vector<std::string>& made,
               const std::vector<std::string>& changed, const std::vector<std::string>& removed);
    Origins OriginsOf(const std::string& name) const;
  };
  std::map<std::string, BodyHistory> bodies_;  // by function; "" is main
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_PROVENANCE_H_
