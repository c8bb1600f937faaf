// Two graphs on one page: both drawn as one, what differs marked.
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

// Owns the graph that it shows; of A and B nothing is kept but what tells their nodes apart.
class DiffGraph {
 public:
  // `rewrites`: what made B of A, told where their nodes are.
  static Expected<std::unique_ptr<DiffGraph>> Make(const Module& b, const Diff& diff,
                                                   std::string title,
                                                   llvm::ArrayRef<Rewrite> rewrites = {});
  GraphPage& page() { return *page_; }
  const GraphPage& page() const { return *page_; }
  const PageMarks& marks() const { return marks_; }

  // What stands on the page for a node of A, or of B; false: nothing does.
  Node OfA(const Node& a) const { return graph_.of_a.lookup({&a.graph(), a.id()}); }
  Node OfB(llvm::StringRef function, llvm::StringRef name) const;

  using Place = std::pair<size_t, NodeId>;  // body of the page, and the node there
  Place PlaceOf(const Node& node) const { return {numbers_.lookup(&node.graph()), node.id()}; }
  // By a name of before the stage, else of after it.
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
  // Of what a group became, all but the first: a group is one in the lists, as it is in words.
  llvm::DenseSet<std::pair<const Graph*, NodeId>> beside_;
  llvm::StringMap<std::vector<PageMarks::Detail>> details_;  // by "function/node"
  llvm::DenseMap<const Graph*, std::string> prefixes_;       // "function/"
  llvm::DenseMap<const Graph*, size_t> numbers_;             // of bodies
  llvm::StringMap<Node> moved_;  // nodes of A, "function/node", that have another name here
  PageMarks marks_;
  std::unique_ptr<GraphPage> page_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_DIFF_GRAPH_H_
