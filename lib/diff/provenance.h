// Reads from a ledger of rewrites (`opt --ledger`) where nodes came from.
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
// Certain, provided that the ledger is that of these two graphs.
class Provenance {
 public:
  // `jsonl`: a JSON object a line, as lib/pass's ledger writes them. Errors name the line.
  static Expected<Provenance> Parse(llvm::StringRef jsonl);

  // Returns pairs and groups for a body that both graphs have under one name; nothing for other
  // bodies.
  KnownPairs PairsOf(const BodyView& a, const BodyView& b) const;

 private:
  using Origins = std::set<std::string>;
  struct BodyHistory {
    std::map<std::string, Origins> made;  // node -> nodes of the first graph
    // For an original node that remains: the removed original nodes whose work it took over.
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
