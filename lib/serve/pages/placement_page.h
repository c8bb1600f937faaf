// A page with a placed graph.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_

#include <memory>
#include <string>

#include "lib/job/place.h"
#include "lib/serve/pages/page.h"
#include "lib/serve/pages/placement_graph.h"

namespace grapnel {

// Explains the devices of nodes only in graphs of up to some thousand nodes; see PlacementGraph.
class PlacementPage : public Page {
 public:
  // Everything that `context` refers to must outlive the page.
  PlacementPage(const PlacementContext& context, std::string title);
  // Makes a page that owns the placement and its graph.
  PlacementPage(std::shared_ptr<const OpenedGraph> opened, std::unique_ptr<PlacedGraph> placed,
                std::string title);
  static bool classof(const Page* page) { return page->kind() == Kind::kPlacement; }

  // The graph that the page owns; null if the page was made from a PlacementContext.
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
