// Two graphs side by side, each drawn alone, and the correspondence between their nodes.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PANES_H_
#define GRAPNEL_LIB_SERVE_PAGES_PANES_H_

#include <memory>
#include <string>

#include "lib/diff/diff.h"
#include "lib/render/graph_page.h"
#include "lib/serve/pages/diff_graph.h"

namespace grapnel {

// The two graphs of a diff. All constructor arguments must outlive this object.
class Panes {
 public:
  Panes(const Module& a, const Module& b, const Diff& diff, const DiffGraph& merged);
  Panes(const Panes&) = delete;
  Panes& operator=(const Panes&) = delete;

  GraphPage& a() { return *a_.page; }
  GraphPage& b() { return *b_.page; }

  // Returns the correspondence between each graph and the page of the merged graph:
  //   "a", "b": lists of [body, node, body in the merged graph, node in the merged graph];
  //   "aliases": [body, node, body, node], both in the merged graph: the first node, of a
  //   replacement, is shown at the second; "bodies": [body of A, body of B]; "scopes": [body of A,
  //   path in A, path in B] for scopes whose nodes moved to a scope with another name.
  // Linear in nodes; the caller caches the result.
  std::string MatchJson() const;

 private:
  struct Side {
    const Module* module = nullptr;
    PageMarks marks;
    std::unique_ptr<GraphPage> page;
  };
  void SetUp(Side* side, const Module& module, const char* title,
             const std::function<Node(const Node&)>& here);
  Node OfB(const Node& b) const;
  void WriteNodes(const Side& side, llvm::function_ref<Node(const Node&)> here,
                  llvm::json::OStream& json) const;
  void WriteScopes(llvm::json::OStream& json) const;

  const DiffGraph& merged_;
  std::vector<std::pair<std::string, std::string>> bodies_;  // pairs of functions of A and B
  std::vector<std::pair<DiffGraph::Place, DiffGraph::Place>> aliases_;
  llvm::DenseMap<const Graph*, std::string> functions_;  // names of B's functions
  Side a_, b_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PANES_H_
