// A placed graph.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_

#include <memory>
#include <string>

#include "lib/serve/pages/page.h"
#include "lib/serve/pages/placement_graph.h"

namespace grapnel {

// Nodes are explained in graphs of some thousands; see PlacementGraph.
class PlacementPage : public Page {
 public:
  // All that `context` speaks of outlives the page.
  PlacementPage(const PlacementContext& context, std::string title);
  // A placement that the page keeps.
  PlacementPage(std::unique_ptr<PlacedGraph> placed, std::string title);
  static bool classof(const Page* page) { return page->kind() == Kind::kPlacement; }

  // Null when the placement is somebody else's.
  const PlacedGraph* placed() const { return placed_.get(); }
  Expected<GraphPage*> Drawing() override { return &graph_.page(); }

 private:
  std::unique_ptr<PlacedGraph> placed_;
  PlacementGraph graph_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_
