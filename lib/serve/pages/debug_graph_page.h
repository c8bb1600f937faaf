// The ops of a debug run as a graph on a page, marked with their recorded values.
#ifndef GRAPNEL_LIB_SERVE_PAGES_DEBUG_GRAPH_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_DEBUG_GRAPH_PAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/render/graph_page.h"
#include "lib/serve/pages/debug_card.h"

namespace grapnel {

class DebugGraphPage {
 public:
  // All arguments must outlive this object. Marks recorded nodes: first cause, other causes, bad,
  // clean. The page's panel shows a node's outputs, inputs and source line.
  DebugGraphPage(const DebugRun& run, const DebugModule& module, const DebugIndex& index,
                 const BlameReport& report, DebugCards& cards, std::string title);
  GraphPage& page() { return *page_; }

 private:
  enum Mark : int { kNone = -1, kFirstCause, kClean, kBad, kOtherCause };
  struct Record {
    Mark mark = kNone;
    int trace = -1, execution = -1;  // the node's first bad record, else its first
  };
  void MarkGraph(int graph, const DebugIndex& index);
  void MarkExecutions(const DebugIndex& index);
  void MarkCauses(const BlameReport& report);
  Record* RecordOf(const DebugAlert& alert);
  const Record* RecordOf(const Node& node) const;
  std::vector<PageMarks::Detail> Details(const Node& node) const;

  const DebugRun& run_;
  const DebugModule& module_;
  DebugCards& cards_;
  std::vector<std::vector<Record>> records_;  // by body and node id
  llvm::DenseMap<const Graph*, size_t> body_;
  PageMarks marks_;
  std::unique_ptr<GraphPage> page_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_DEBUG_GRAPH_PAGE_H_
