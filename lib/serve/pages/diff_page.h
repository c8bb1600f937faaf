// A page with the differences between two graphs.
#ifndef GRAPNEL_LIB_SERVE_PAGES_DIFF_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_DIFF_PAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/serve/pages/diff_graph.h"
#include "lib/serve/pages/page.h"

namespace grapnel {

// Finds the layers of the graphs of a comparison; the functions may be empty.
struct LayersOfBoth {
  std::function<LayerTable()> a, b;
};

// The values of the variables of two graphs; nullopt for a graph that comes without values.
struct ValuesOfBoth {
  std::optional<PageValues> a, b;
};

class DiffPage : public Page {
 public:
  // `a` and `b` must outlive the page, or belong to the pages in `of`, which this page keeps alive.
  // `values`: the comparison of the values of both; may be null. `stored`: the values for panels.
  static Expected<std::unique_ptr<DiffPage>> Make(const Module& a, const Module& b,
                                                  const Diff& diff, std::string title,
                                                  std::vector<std::shared_ptr<Page>> of = {},
                                                  const ValueReport* values = nullptr,
                                                  const LayersOfBoth& layers = {},
                                                  const ValuesOfBoth& stored = {});
  static bool classof(const Page* page) { return page->kind() == Kind::kDiff; }

  Expected<GraphPage*> Drawing() override { return &merged_->page(); }
  Expected<Panes*> SideBySide() override { return &panes_; }
  bool HasPanes() const override { return true; }
  size_t Weight() const override;

 private:
  DiffPage(const Module& a, const Module& b, const Diff& diff, std::unique_ptr<DiffGraph> merged,
           std::string title, const LayersOfBoth& layers);

  std::vector<std::shared_ptr<Page>> of_;
  std::unique_ptr<DiffGraph> merged_;
  Panes panes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_DIFF_PAGE_H_
