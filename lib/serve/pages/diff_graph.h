// Two graphs drawn as one on a page, with their differences marked.
#ifndef GRAPNEL_LIB_SERVE_PAGES_DIFF_GRAPH_H_
#define GRAPNEL_LIB_SERVE_PAGES_DIFF_GRAPH_H_

#include <memory>
#include <optional>
#include <utility>

#include "lib/diff/diff.h"
#include "lib/diff/union_graph.h"
#include "lib/pass/rewrite.h"
#include "lib/render/graph_page.h"
#include "lib/support/error.h"

namespace grapnel {

// Owns the merged graph; of A and B it keeps only pointers to tell nodes apart.
class DiffGraph {
 public:
  // `rewrites`: those that made B from A, shown at their nodes.
  static Expected<std::unique_ptr<DiffGraph>> Make(const Module& b, const Diff& diff,
                                                   std::string title,
                                                   llvm::ArrayRef<Rewrite> rewrites = {});
  GraphPage& page() { return *page_; }
  const GraphPage& page() const { return *page_; }
  const PageMarks& marks() const { return marks_; }

  // The node on the page for a node of A, or of B; false without one.
  Node OfA(const Node& a) const { return graph_.of_a.lookup({&a.graph(), a.id()}); }
  Node OfB(llvm::StringRef function, llvm::StringRef name) const;

  using Place = std::pair<size_t, NodeId>;  // body of the page, and the node there
  Place PlaceOf(const Node& node) const { return {numbers_.lookup(&node.graph()), node.id()}; }
  // Finds the page's node for a name in A (before the stage), or in B (after it).
  std::optional<Place> FindBefore(llvm::StringRef function, llvm::StringRef name) const;
  std::optional<Place> FindAfter(llvm::StringRef function, llvm::StringRef name) const;

 private:
  DiffGraph() = default;
  void AddChanges(const Diff& diff);
  void AddRewrite(const Rewrite& rewrite);
  std::string NameOf(const Node& node) const {
    return prefixes_.lookup(&node.graph()) + node.name().str();
  }

  UnionGraph graph_;
  // All but the first node of each replacement group in B: a group counts once in the lists, as in
  // texts.
  llvm::DenseSet<std::pair<const Graph*, NodeId>> beside_;
  llvm::StringMap<std::vector<PageMarks::Detail>> details_;  // by "function/node"
  llvm::DenseMap<const Graph*, std::string> prefixes_;       // "function/"
  llvm::DenseMap<const Graph*, size_t> numbers_;             // body numbers
  llvm::StringMap<Node> moved_;  // nodes of A, "function/node", with another name here
  PageMarks marks_;
  std::unique_ptr<GraphPage> page_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_DIFF_GRAPH_H_
