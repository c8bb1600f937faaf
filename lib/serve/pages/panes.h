// Two graphs side by side, each drawn alone, and the correspondence between their nodes.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PANES_H_
#define GRAPNEL_LIB_SERVE_PAGES_PANES_H_

#include <memory>
#include <string>

#include "lib/diff/diff.h"
#include "lib/render/columns.h"
#include "lib/render/graph_page.h"
#include "lib/serve/pages/diff_graph.h"

namespace grapnel {

// The two graphs of a diff. `a`, `b` and `merged` must outlive this object.
class Panes {
 public:
  Panes(const Module& a, const Module& b, const Diff& diff, const DiffGraph& merged);
  Panes(const Panes&) = delete;
  Panes& operator=(const Panes&) = delete;

  GraphPage& a() { return *a_.page; }
  GraphPage& b() { return *b_.page; }

  // Returns the correspondence between each graph and the page of the merged graph, in columns
  // (lib/render/columns.h):
  //   "a body", "a node", "a merged body", "a merged node": a row for each node of A that the
  //   merged graph shows; the same for "b";
  //   "alias body", "alias node", "alias merged body", "alias merged node": both in the merged
  //   graph: a further node of a replacement, and the first node of that replacement;
  //   "of a", "of b": bodies of functions that correspond;
  //   "scope body", "scope in a", "scope in b": paths of scopes of A whose nodes moved to a scope
  //   of B with another name.
  // Linear in nodes; the caller caches the result.
  std::string MatchTable() const;

 private:
  struct Side {
    const Module* module = nullptr;
    PageMarks marks;
    std::unique_ptr<GraphPage> page;
  };
  void SetUp(Side* side, const Module& module, const char* title,
             const std::function<Node(const Node&)>& here);
  Node OfB(const Node& b) const;
  void WriteNodes(const char* name, const Side& side, llvm::function_ref<Node(const Node&)> here,
                  ColumnWriter& out) const;
  void WriteScopes(ColumnWriter& out) const;

  const DiffGraph& merged_;
  std::vector<std::pair<std::string, std::string>> bodies_;  // pairs of functions of A and B
  std::vector<std::pair<DiffGraph::Place, DiffGraph::Place>> aliases_;
  llvm::DenseMap<const Graph*, size_t> bodies_of_b_;  // their numbers, in the merged graph too
  Side a_, b_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PANES_H_
