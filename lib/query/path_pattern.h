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

// A list of steps separated by ->. A step is an op, or a glob of ops (lib/support/glob.h) without
// brackets, and may require attributes as the printer shows them:
// Conv2D[padding="SAME",data_format=NHWC] (quotes are optional). `**` between two steps matches any
// number of nodes, including none.
class PathPattern {
 public:
  // Errors give the character position and what was expected.
  static Expected<PathPattern> Parse(llvm::StringRef text);

  struct Step {
    Glob op;
    std::vector<std::pair<std::string, std::string>> attributes;
    bool after_gap = false;  // ** comes before it
    bool Matches(const Node& node) const;
  };
  const std::vector<Step>& steps() const { return steps_; }
  bool HasGaps() const;

 private:
  std::vector<Step> steps_;
};

using NodePath = std::vector<NodeId>;

// Returns the matching paths of a body along data edges, in the order of their first nodes; at most
// `limit`. For a pattern with **, one shortest path for each pair of ends. Linear in steps x edges,
// and again for each first node if there is a **.
std::vector<NodePath> FindPaths(const Graph& graph, const PathPattern& pattern, size_t limit);

// Returns a shortest matching path that ends with `last`; among equally short ones, the one through
// earlier inputs. Empty if no path matches. Costs as much as the number of steps; with a **, a walk
// over everything that `last` depends on.
NodePath FindPathTo(const Node& last, const PathPattern& pattern);

// The same in all bodies, as rows: function (NULL: the main graph), path and ops, both with ->
// between them. Errors are those of Parse.
Expected<QueryResult> FindPathRows(const Module& module, llvm::StringRef pattern, size_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_PATH_PATTERN_H_
