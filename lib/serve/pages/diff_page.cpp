#include "lib/serve/pages/diff_page.h"

#include <utility>

#include "lib/diff/diff_text.h"

namespace grapnel {

Expected<std::unique_ptr<DiffPage>> DiffPage::Make(const Module& a, const Module& b,
                                                   const Diff& diff, std::string title,
                                                   std::vector<std::shared_ptr<Page>> of,
                                                   const ValueReport* values,
                                                   const LayersOfBoth& layers,
                                                   const ValuesOfBoth& stored) {
  std::function<BoxLayers()> both;
  if (layers.a && layers.b) both = [layers] { return BoxLayers(layers.b(), layers.a()); };
  ASSIGN_OR_RETURN(std::unique_ptr<DiffGraph> merged,
                   DiffGraph::Make(b, diff, title, {}, values, std::move(both)));
  std::unique_ptr<DiffPage> page(
      new DiffPage(a, b, diff, std::move(merged), std::move(title), layers));
  if (stored.a) page->panes_.a().SetValues(*stored.a);
  if (stored.b) page->panes_.b().SetValues(*stored.b);
  if (stored.a || stored.b) page->merged_->SetValues(b, stored.a, stored.b);
  page->of_ = std::move(of);
  return page;
}

size_t DiffPage::Weight() const { return WeightOf(merged_->page()); }

DiffPage::DiffPage(const Module& a, const Module& b, const Diff& diff,
                   std::unique_ptr<DiffGraph> merged, std::string title, const LayersOfBoth& layers)
    : Page(Kind::kDiff, std::move(title)),
      merged_(std::move(merged)),
      panes_(a, b, diff, *merged_) {
  note_ = DiffSummary(diff);
  if (layers.a) panes_.a().SetLayers([find = layers.a] { return BoxLayers(find()); });
  if (layers.b) panes_.b().SetLayers([find = layers.b] { return BoxLayers(find()); });
}

}  // namespace grapnel
