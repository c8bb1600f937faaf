// A page with one graph.
#ifndef GRAPNEL_LIB_SERVE_PAGES_MODEL_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_MODEL_PAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/serve/pages/page.h"

namespace grapnel {

class ModelPage : public Page {
 public:
  // Makes a page for a graph and for the other contents of its file (signatures and so on);
  // `module` and `file` must outlive the page. If `module` is the file's own graph, first shows the
  // body of `signature` if it exists, else that of the default signature, if any; for a library
  // without a main graph, its largest function that no function calls.
  ModelPage(const Module& module, const GraphInFile& file, std::string title,
            llvm::StringRef signature = {});
  // Makes a page for a graph of a file, which the page keeps.
  ModelPage(std::shared_ptr<const OpenedGraph> opened, std::string title,
            llvm::StringRef signature = {});
  static bool classof(const Page* page) { return page->kind() == Kind::kModel; }

  Expected<GraphPage*> Drawing() override { return &drawing_; }
  const Module* module() const override { return &module_; }
  std::vector<std::string> FunctionsNamedOutside() const override { return named_outside_; }
  std::shared_ptr<const OpenedGraph> opened() const override { return opened_; }
  // Sets the address (lib/render/page_address.h) at which the page opens, listed as "address". Call
  // it before the page is in a PageSet.
  void OpenAt(std::string address) { address_ = std::move(address); }
  // Sets the scopes and functions that are open at first, as GraphPage::OpenAs does. Call it before
  // the page is in a PageSet.
  Expected<std::vector<std::string>> OpenAs(const OpenRequest& wanted) {
    return drawing_.OpenAs(wanted);
  }
  // Estimates FLOPs with a batch of 1 if the batch of this page's graph is unknown. `opened` is the
  // graph and must outlive the page. Call it before the page is in a PageSet; pages that keep their
  // graph do it themselves.
  void AssumeBatch(const OpenedGraph& opened);
  // Shows the values of the graph's variables, if the model comes with them. `opened` is the graph
  // and must outlive the page. Call it before the page is in a PageSet; pages that keep their graph
  // do it themselves.
  void ShowValues(const OpenedGraph& opened);
  void WriteListed(llvm::json::OStream& json) const override;

 private:
  std::shared_ptr<const OpenedGraph> opened_;
  std::optional<OpenedGraph> sized_;
  const Module& module_;
  std::vector<std::string> named_outside_;
  GraphPage drawing_;
  std::string address_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_MODEL_PAGE_H_
