// A placed graph on a page, colored by assigned devices, with the reason for each node's device.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_GRAPH_H_
#define GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_GRAPH_H_

#include <memory>

#include "lib/place/explanation.h"
#include "lib/place/placement_report.h"
#include "lib/render/graph_page.h"

namespace grapnel {

// Summarizes the transfers: "12 tensors cross between devices, 4.2 MB".
std::string CrossingsText(const PlacementReport& report);

class PlacementGraph {
 public:
  // `context` must be for a main graph that could be placed, and everything that it refers to must
  // outlive this object. Marks nodes of CPU islands (nodes on the CPU between nodes on an
  // accelerator), and nodes that are not on their requested device. Explaining one node takes a
  // pass over the graph, so graphs with more than `most_explained` nodes have no explanations.
  PlacementGraph(const PlacementContext& context, std::string title, size_t most_explained);
  GraphPage& page() { return *page_; }
  const GraphPage& page() const { return *page_; }

 private:
  enum Mark : int { kNone = -1, kIsland, kMoved };
  std::string DeviceOf(const Node& node) const;
  std::vector<PageMarks::Detail> Details(const Node& node) const;
  void MarkNodes(const PlacementReport& report);

  PlacementContext context_;
  std::vector<Mark> mark_;  // by node id
  PageMarks marks_;
  std::unique_ptr<GraphPage> page_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_GRAPH_H_
