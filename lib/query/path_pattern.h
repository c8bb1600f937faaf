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
// brackets, and may require attributes, written as the printer shows them:
// Conv2D[padding="SAME",data_format=NHWC] (quotes are optional). `**` between two steps matches any
// number of nodes, including zero.
class PathPattern {
 public:
  // Errors give the character position and what was expected.
  static Expected<PathPattern> Parse(llvm::StringRef text);

  struct Step {
    Glob op;
    std::vector<std::pair<std::string, std::string>> attributes;
    bool after_gap = false;  // ** comes before this step
    bool Matches(const Node& node) const;
  };
  const std::vector<Step>& steps() const { return steps_; }
  bool HasGaps() const;

 private:
  std::vector<Step> steps_;
};

using NodePath = std::vector<NodeId>;

// Returns the paths of a body along data edges that match the pattern, in the order of their first
// nodes; at most `limit`. For a pattern with **, returns one shortest path for each pair of first
// and last node. Linear in steps x edges and in the returned paths; with a **, linear in steps x
// edges for each first node.
std::vector<NodePath> FindPaths(const Graph& graph, const PathPattern& pattern, size_t limit);

// Returns a shortest path that matches the pattern and ends with `last`; among equally short paths,
// the one through earlier inputs. Empty if no path matches. Visits at most the nodes up to as many
// steps before `last` as the pattern has; with a **, at most everything that `last` depends on.
NodePath FindPathTo(const Node& last, const PathPattern& pattern);

// Returns the matching paths of all bodies as rows with the columns function (NULL: the main
// graph), path and ops; path and ops have -> between the nodes. Errors are those of
// PathPattern::Parse.
Expected<QueryResult> FindPathRows(const Module& module, llvm::StringRef pattern, size_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_PATH_PATTERN_H_
