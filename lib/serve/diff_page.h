// Two graphs on one page: both drawn as one, what differs marked.
#ifndef GRAPNEL_LIB_SERVE_DIFF_PAGE_H_
#define GRAPNEL_LIB_SERVE_DIFF_PAGE_H_

#include <memory>

#include "lib/diff/diff.h"
#include "lib/diff/union_graph.h"
#include "lib/render/graph_page.h"
#include "lib/support/error.h"

namespace grapnel {

// Owns the graph that it shows; of the diff nothing is kept that points into A or B.
class DiffPage {
 public:
  static Expected<std::unique_ptr<DiffPage>> Make(const Module& b, const Diff& diff,
                                                  std::string title);
  GraphPage& page() { return *page_; }

 private:
  DiffPage() = default;
  UnionGraph graph_;
  llvm::StringMap<std::vector<PageMarks::Detail>> details_;  // by "function/node"
  llvm::DenseMap<const Graph*, std::string> prefixes_;       // "function/"
  PageMarks marks_;
  std::unique_ptr<GraphPage> page_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_DIFF_PAGE_H_
