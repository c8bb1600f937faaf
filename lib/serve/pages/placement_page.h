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
  // Makes a page that owns the placement and its graph. `source` is the graph that the user asked
  // to place, which may be another one: TensorFlow inlines calls first.
  PlacementPage(std::shared_ptr<const OpenedGraph> opened, std::unique_ptr<PlacedGraph> placed,
                std::string title, const std::shared_ptr<const OpenedGraph>& source);
  static bool classof(const Page* page) { return page->kind() == Kind::kPlacement; }

  // True if the page shows a placement of `graph`, and was not made from a PlacementContext.
  bool IsOf(const std::shared_ptr<const OpenedGraph>& graph) const {
    return graph && !source_.owner_before(graph) && !graph.owner_before(source_);
  }
  Expected<GraphPage*> Drawing() override { return &graph_.page(); }
  size_t Weight() const override;

 private:
  std::shared_ptr<const OpenedGraph> opened_;
  std::unique_ptr<PlacedGraph> placed_;
  std::weak_ptr<const OpenedGraph> source_;
  PlacementGraph graph_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PLACEMENT_PAGE_H_
