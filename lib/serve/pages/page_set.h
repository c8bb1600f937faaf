// The graphs that one page shows, in a list.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
#define GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "lib/serve/pages/page.h"
#include "lib/support/error.h"

namespace grapnel {

// Pages are numbered in the order in which they are added, and stay. Safe to use from several
// threads, to add while others read too.
class PageSet {
 public:
  // The number of the page, or of the first one.
  size_t Add(std::unique_ptr<Page> page);
  size_t AddAll(std::vector<std::unique_ptr<Page>> pages);  // side by side
  // Every graph that is in a file, folder or case; of a folder of dumps each stage, of one of
  // TensorFlow's debugger a debug page. Errors name the path.
  Error AddPath(llvm::StringRef path);

  size_t size() const;
  // Owned by the set. Errors: there is no such page.
  Expected<Page*> Find(size_t number) const;
  Page& at(size_t number) const;  // one that is there
  // What there is to choose from, a list of {"id", "title", "tabs", "group", "note", "same",
  // "module", "opened", "panes"} and what Page::WriteListed adds ("kind": "debug"; "run": the page
  // that a stage's run begins with). "tabs": their names, from the left; "same": the stage changed
  // nothing; "module": it can be compared; "opened": it is of a file, and can be run, placed and
  // have passes run on it; "panes": it can be seen side by side. `in_file`: for a page without a
  // server, which has not all of it.
  std::string Json(bool in_file = false) const;

 private:
  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
