#include "lib/serve/pages/placement_page.h"

#include <utility>

namespace grapnel {
namespace {

// A graph with more nodes has no explanations of its placement (see PlacementGraph).
constexpr size_t kMostExplained = 5000;

}  // namespace

PlacementPage::PlacementPage(const PlacementContext& context, std::string title)
    : Page(Kind::kPlacement, std::move(title)), graph_(context, this->title(), kMostExplained) {}

PlacementPage::PlacementPage(std::shared_ptr<const OpenedGraph> opened,
                             std::unique_ptr<PlacedGraph> placed, std::string title,
                             const std::shared_ptr<const OpenedGraph>& source)
    : Page(Kind::kPlacement, std::move(title)),
      opened_(std::move(opened)),
      placed_(std::move(placed)),
      source_(source),
      graph_(placed_->context(), this->title(), kMostExplained) {
  note_ = "placed";
}

size_t PlacementPage::Weight() const { return WeightOf(graph_.page()); }

}  // namespace grapnel
