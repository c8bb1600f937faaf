// Which boxes of a picture a diff marks. A box also shows what is folded into it (lib/render/
// selection.h): a constant or variable that nodes read has no box, so if it differs, the nodes that
// read it are marked.
#ifndef GRAPNEL_LIB_RENDER_DIFF_MARKS_H_
#define GRAPNEL_LIB_RENDER_DIFF_MARKS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/diff/union_graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

class DiffMarks {
 public:
  // `graph` must outlive this object. Takes time linear in all bodies, and in the readers of each
  // constant and variable that differs.
  explicit DiffMarks(const UnionGraph& graph);

  // Returns the status to show at a node of the union: its own, else kChanged if Within() is not
  // empty, if its value differs, or if a function that it calls has a difference.
  NodeStatus Of(const Node& node) const;

  // True if the node and what it calls are the same, but values that it has or reads differ.
  bool HasOtherValues(const Node& node) const;

  // The folded nodes with a difference (constants, variables, reads of these) that a node reads, or
  // that calls pass to its function as an argument that it reads or is.
  llvm::ArrayRef<Node> Within(const Node& node) const;

  // Returns at most `most` scopes to open: the innermost ones around nodes that have a box and a
  // difference other than in values or, of too many, scopes around them. Ops that only read, save
  // or update a variable that differs do not count. In functions "function/a/b", or "function" for
  // the outermost scope. Sorted; empty if even the outermost scopes are too many.
  std::vector<std::string> ScopesToOpen(size_t most) const;

 private:
  class Maker;
  using Key = std::pair<const Graph*, NodeId>;

  const UnionGraph& graph_;
  llvm::DenseMap<Key, std::vector<Node>> within_;
  llvm::DenseSet<Key> calls_;  // nodes that call a function with a difference
  std::set<std::pair<std::string, std::string>> scopes_;  // function or "", path in it
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DIFF_MARKS_H_
