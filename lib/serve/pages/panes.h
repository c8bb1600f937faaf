// Two graphs side by side, each drawn alone, and the correspondence of their nodes.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PANES_H_
#define GRAPNEL_LIB_SERVE_PAGES_PANES_H_

#include <memory>
#include <string>

#include "lib/diff/diff.h"
#include "lib/render/graph_page.h"
#include "lib/serve/pages/diff_graph.h"

namespace grapnel {

// Everything it is made from must outlive it.
class Panes {
 public:
  Panes(const Module& a, const Module& b, const Diff& diff, const DiffGraph& merged);
  Panes(const Panes&) = delete;
  Panes& operator=(const Panes&) = delete;

  GraphPage& a() { return *a_.page; }
  GraphPage& b() { return *b_.page; }

  // The correspondence with the page of both graphs as one ("there"):
  //   "a", "b": lists of [body, node, body there, node there];
  //   "aliases": nodes of a replacement shown at another one: [body, node, body, node], there;
  //   "bodies": [body of A, body of B]; "scopes": [body of A, its path, path in B] for scopes whose
  //   nodes moved to a scope with another name.
  // Linear in nodes; the caller caches it.
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
  std::vector<std::pair<std::string, std::string>> bodies_;  // functions of A and B
  std::vector<std::pair<DiffGraph::Place, DiffGraph::Place>> aliases_;
  llvm::DenseMap<const Graph*, std::string> functions_;  // B's functions
  Side a_, b_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PANES_H_
