// Two graphs drawn as one on a page, with their differences marked.
#ifndef GRAPNEL_LIB_SERVE_PAGES_DIFF_GRAPH_H_
#define GRAPNEL_LIB_SERVE_PAGES_DIFF_GRAPH_H_

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "lib/diff/diff.h"
#include "lib/diff/union_graph.h"
#include "lib/diff/value_diff.h"
#include "lib/pass/rewrite.h"
#include "lib/render/diff_marks.h"
#include "lib/render/graph_page.h"
#include "lib/support/error.h"

namespace grapnel {

// The merged graph of a diff, drawn. Uses pointers into the graphs A and B only to identify nodes.
class DiffGraph {
 public:
  // `rewrites`: the rewrites that made B from A, which are shown at their nodes; must outlive the
  // result. `values`: the comparison of the values of both; may be null. `layers`: finds those of
  // both; may be empty.
  static Expected<std::unique_ptr<DiffGraph>> Make(const Module& b, const Diff& diff,
                                                   std::string title,
                                                   llvm::ArrayRef<Rewrite> rewrites = {},
                                                   const ValueReport* values = nullptr,
                                                   std::function<BoxLayers()> layers = nullptr);
  // Shows the values of B's variables, and of those that only A has; nullopt for a graph without
  // values. `b` must outlive this object. Call it before requesting a document.
  void SetValues(const Module& b, const std::optional<PageValues>& of_a,
                 const std::optional<PageValues>& of_b);
  GraphPage& page() { return *page_; }
  const GraphPage& page() const { return *page_; }
  const PageMarks& marks() const { return marks_; }

  // Return the page's node for a node of A, or of B; a null node if there is none.
  Node OfA(const Node& a) const { return graph_.of_a.lookup({&a.graph(), a.id()}); }
  Node OfB(llvm::StringRef function, llvm::StringRef name) const;

  using Place = std::pair<size_t, NodeId>;  // a body's number, and a node in it
  Place PlaceOf(const Node& node) const { return {numbers_.lookup(&node.graph()), node.id()}; }
  // Find the page's node for the name of a node in A (before the stage of passes), or in B (after
  // it).
  std::optional<Place> FindBefore(llvm::StringRef function, llvm::StringRef name) const;
  std::optional<Place> FindAfter(llvm::StringRef function, llvm::StringRef name) const;

 private:
  DiffGraph() = default;
  void AddChanges(const Diff& diff);
  void AddValues(const ValueReport& values);
  std::vector<PageMarks::Detail> OwnDetailsOf(const Node& node) const;
  std::vector<PageMarks::Detail> DetailsOf(const Node& node) const;
  void AddRewrite(const Rewrite& rewrite);
  using Key = std::pair<const Graph*, NodeId>;
  static Key KeyOf(const Node& node) { return {&node.graph(), node.id()}; }
  std::string NameOf(const Node& node) const {
    return prefixes_.lookup(&node.graph()) + node.name().str();
  }
  void AddDetail(const Node& node, PageMarks::Detail detail) {
    if (node) details_[KeyOf(node)].push_back(std::move(detail));
  }

  UnionGraph graph_;
  std::optional<DiffMarks> statuses_;
  // Nodes of B that lists leave out: of several nodes that together replace nodes of A, lists have
  // only the first, so that the group counts once, as in text output.
  llvm::DenseSet<Key> beside_;
  llvm::DenseMap<Key, std::vector<PageMarks::Detail>> details_;
  // The effect of a rewrite on a node, and a line about its rule.
  struct RewriteOfNode {
    const char* what;
    const Rewrite* rewrite;
    const std::string* rule_line;
  };
  llvm::DenseMap<Key, llvm::SmallVector<RewriteOfNode, 1>> rewrites_;
  std::map<std::pair<std::string, std::string>, std::string> rule_lines_;  // by pass and rule
  llvm::DenseMap<const Graph*, std::string> prefixes_;                     // "function/"
  llvm::DenseMap<const Graph*, size_t> numbers_;                           // numbers of bodies
  // By name in A ("function/node"): nodes that have another name in the merged graph.
  llvm::StringMap<Node> moved_;
  PageMarks marks_;
  std::unique_ptr<GraphPage> page_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_DIFF_GRAPH_H_
