// One entry of the list of graphs that a page shows.
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
// debugger: `llvm::dyn_cast` tells which. Which tabs are shown for it is said by the tabs
// (lib/serve/pages/tab.h). Safe to ask from several threads once it is in a PageSet.
class Page {
 public:
  enum class Kind { kModel, kDiff, kStage, kPlacement, kDebug, kForgotten };

  Page(Kind kind, std::string title) : kind_(kind), title_(std::move(title)) {}
  virtual ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  Kind kind() const { return kind_; }
  const std::string& title() const { return title_; }
  // The heading that it stands under among others, and a few words about it; "": none.
  const std::string& group() const { return group_; }
  const std::string& note() const { return note_; }
  // Its place in the PageSet that it was added to.
  size_t number() const { return number_; }
  // Of which of the paths of the PageSet it is, or was made, from 0 on.
  size_t model() const { return model_; }

  // What is drawn of it, owned by the page. Made at the first call, which for a stage costs its
  // comparison. Errors: there is nothing to draw, and why.
  virtual Expected<GraphPage*> Drawing() = 0;
  // Its two graphs, each drawn alone; made and kept likewise. Errors: it is no comparison.
  virtual Expected<Panes*> SideBySide();
  // Whether SideBySide gives something. Costs nothing.
  virtual bool HasPanes() const { return false; }
  // False of a stage that changed nothing: it is listed, and not drawn.
  virtual bool Differs() const { return true; }
  // What can be compared; null: nothing. Lives as long as the page.
  virtual const Module* module() const { return nullptr; }
  // Functions that something beside the graph names (lib/io/named_functions.h).
  virtual std::vector<std::string> FunctionsNamedOutside() const { return {}; }
  // What can be run, placed and optimized: a graph of a file; null: it is none.
  virtual std::shared_ptr<const OpenedGraph> opened() const { return nullptr; }
  // Roughly the bytes of memory that go with it. Costs a look at its functions.
  virtual size_t Weight() const { return 0; }
  // What is listed of this kind of page alone, as attributes of the object that is open.
  virtual void WriteListed(llvm::json::OStream& json) const;

 protected:
  std::string group_, note_;

 private:
  friend class PageSet;

  Kind kind_;
  std::string title_;
  size_t number_ = 0, model_ = 0;
};

// For Page::Weight: a drawing with its scopes and lists; a graph that somebody drew, with the bytes
// that it points into.
size_t WeightOf(const GraphPage& drawing);
size_t WeightOf(const Module& module);

// opened(). Errors: the page is no graph of a file.
Expected<std::shared_ptr<const OpenedGraph>> OpenedOf(const Page& page);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PAGE_H_
