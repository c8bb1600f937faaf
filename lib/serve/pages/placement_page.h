// A placed graph.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_

#include <memory>
#include <string>

#include "lib/job/place.h"
#include "lib/serve/pages/page.h"
#include "lib/serve/pages/placement_graph.h"

namespace grapnel {

// Nodes are explained in graphs of some thousands; see PlacementGraph.
class PlacementPage : public Page {
 public:
  // All that `context` speaks of outlives the page.
  PlacementPage(const PlacementContext& context, std::string title);
  // A placement that the page keeps, with the graph that it is of.
  PlacementPage(std::shared_ptr<const OpenedGraph> opened, std::unique_ptr<PlacedGraph> placed,
                std::string title);
  static bool classof(const Page* page) { return page->kind() == Kind::kPlacement; }

  // What the page keeps; null when the placement is somebody else's.
  const OpenedGraph* kept() const { return opened_.get(); }
  Expected<GraphPage*> Drawing() override { return &graph_.page(); }
  size_t Weight() const override;

 private:
  std::shared_ptr<const OpenedGraph> opened_;
  std::unique_ptr<PlacedGraph> placed_;
  PlacementGraph graph_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_
