// Chains of ops: "MatMul -> * -> Softmax".
#ifndef GRAPNEL_LIB_QUERY_PATH_PATTERN_H_
#define GRAPNEL_LIB_QUERY_PATH_PATTERN_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/ir/module.h"
#include "lib/query/database.h"
#include "lib/support/glob.h"

namespace grapnel {

// Steps with -> between them. A step is an op, or a glob of ops (lib/support/glob.h) without
// brackets, and may demand attributes as the printer shows them:
// Conv2D[padding="SAME",data_format=NHWC] (quotes may be left out). `**` between two steps stands
// for any number of nodes, none too.
class PathPattern {
 public:
  // Errors say at which character and what was expected.
  static Expected<PathPattern> Parse(llvm::StringRef text);

  struct Step {
    Glob op;
    std::vector<std::pair<std::string, std::string>> attributes;
    bool after_gap = false;  // ** stands before it
    bool Matches(const Node& node) const;
  };
  const std::vector<Step>& steps() const { return steps_; }
  bool HasGaps() const;

 private:
  std::vector<Step> steps_;
};

using NodePath = std::vector<NodeId>;

// The paths of a body along data edges that fit, in the order of their first nodes; at most
// `limit`. Where the pattern has a **, one shortest path for each pair of ends. Cost: linear in
// steps x edges, and again for each first node where there is a **.
std::vector<NodePath> FindPaths(const Graph& graph, const PathPattern& pattern, size_t limit);

// A shortest path that fits and ends with `last`; of those as short the one of earlier inputs.
// Empty where there is none. Of the cost of the steps; with a ** of all that `last` is made from.
NodePath FindPathTo(const Node& last, const PathPattern& pattern);

// The same in all bodies, as rows: function (NULL: the main graph), path and ops, both with ->
// between them. Errors: Parse's.
Expected<QueryResult> FindPathRows(const Module& module, llvm::StringRef pattern, size_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_PATH_PATTERN_H_
