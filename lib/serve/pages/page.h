// A page: one entry in the list of graphs that the browser shows.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_PAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/job/opened_graph.h"
#include "lib/render/graph_page.h"
#include "lib/serve/pages/panes.h"
#include "lib/support/error.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// A model, a comparison, a stage of a run of passes, a placement, or a folder of TensorFlow's
// debugger; or the placeholder of an evicted page. `llvm::dyn_cast` distinguishes them. Each tab
// decides which pages have the tab (lib/serve/routes/tab.h). A page in a PageSet is thread-safe.
class Page {
 public:
  enum class Kind { kModel, kDiff, kStage, kPlacement, kDebug, kForgotten };

  Page(Kind kind, std::string title) : kind_(kind), title_(std::move(title)) {}
  virtual ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  Kind kind() const { return kind_; }
  const std::string& title() const { return title_; }
  // The heading of the page's group in the list of pages, and a short remark; both may be empty.
  const std::string& group() const { return group_; }
  const std::string& note() const { return note_; }
  // The page's index in its PageSet.
  size_t number() const { return number_; }
  // The index of the path, among those passed to PageSet::AddPath, whose graph the page shows or
  // was made from.
  size_t model() const { return model_; }

  // Returns the drawn graph, which the page owns. The first call makes it, which for a stage
  // includes comparing its graph with the one before. Errors: there is nothing to draw, with the
  // reason.
  virtual Expected<GraphPage*> Drawing() = 0;
  // Returns the drawn graphs whose documents a page in a file has: Drawing(), and for a comparison
  // the two graphs of SideBySide(); empty if there is nothing to draw.
  std::vector<GraphPage*> DrawingsInFile();
  // True if a file has the two graphs of SideBySide().
  bool HasPanesInFile() const;
  // Returns the two graphs of a comparison, each drawn alone; made and owned as by Drawing().
  // Errors: the page is not a comparison.
  virtual Expected<Panes*> SideBySide();
  // True if SideBySide() returns graphs. Costs nothing.
  virtual bool HasPanes() const { return false; }
  // False for a stage that changed nothing: the browser lists the stage but does not draw it.
  virtual bool Differs() const { return true; }
  // The graph to compare with others; null if there is none. Lives as long as the page.
  virtual const Module* module() const { return nullptr; }
  // Functions that are referenced from outside the graph (lib/io/named_functions.h).
  virtual std::vector<std::string> FunctionsNamedOutside() const { return {}; }
  // The file's graph, which can be run, placed and optimized; null if the page's graph is not from
  // a file.
  virtual std::shared_ptr<const OpenedGraph> opened() const { return nullptr; }
  // The approximate number of bytes that are freed with the page; 0 for kinds of pages that are
  // never evicted. Takes a pass over the graph's functions.
  virtual size_t Weight() const { return 0; }
  // Writes the attributes that only this kind of page has in the list, into the open object.
  virtual void WriteListed(llvm::json::OStream& json) const;

 protected:
  std::string group_, note_;

 private:
  friend class PageSet;

  Kind kind_;
  std::string title_;
  size_t number_ = 0, model_ = 0;
};

// Return numbers of bytes for Page::Weight: those of a drawing with its scopes and lists, and those
// of a graph with the file contents that it points into.
size_t WeightOf(const GraphPage& drawing);
size_t WeightOf(const Module& module);

// Returns page.opened(). Errors: the page's graph is not from a file.
Expected<std::shared_ptr<const OpenedGraph>> OpenedOf(const Page& page);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PAGE_H_
