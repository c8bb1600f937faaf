// The graphs that one page shows, in a list.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
#define GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_

#include <deque>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "lib/serve/pages/page.h"
#include "lib/support/error.h"

namespace grapnel {

// Pages are numbered in the order in which they are added; those of files stay. Safe to use from
// several threads, to add while others read too.
class PageSet {
 public:
  // What was made of them is kept up to so many pages and, roughly, bytes.
  static constexpr size_t kMostMade = 500, kMostMadeWeight = size_t{192} << 20;

  // The number of the page, or of the first one.
  size_t Add(std::unique_ptr<Page> page);
  size_t AddAll(std::vector<std::unique_ptr<Page>> pages);  // side by side
  // The same for what a reader of the page asked for, made of the path `model`. Those that were
  // made first are forgotten for it when they are too many: each leaves a page without a graph in
  // its place, which says so.
  size_t AddMade(std::vector<std::unique_ptr<Page>> pages, size_t model = 0);
  // Every graph that is in a file, folder or case; of a folder of dumps each stage, of one of
  // TensorFlow's debugger a debug page. Errors name the path.
  Error AddPath(llvm::StringRef path, llvm::StringRef signature = {});

  // Numbers for nodes of any of its pages, from a file that ReadNodeData reads. Before the set is
  // shared. Errors: it cannot be read. Of names that are no nodes MissingNodes speaks.
  Error AddNodeData(llvm::StringRef path);
  // [{"file", "text"}] of AddNodeData, as they are: the page reads them itself.
  std::string NodeDataJson() const;
  // What of those files is a node of no page, a line each. Errors: no name of a file is one.
  Expected<std::vector<std::string>> MissingNodes() const;

  size_t size() const;
  // Errors: there is no such page.
  Expected<std::shared_ptr<Page>> Find(size_t number) const;
  std::shared_ptr<Page> at(size_t number) const;  // one that is there
  // What there is to choose from, a list of {"id", "title", "tabs", "group", "note", "same",
  // "module", "opened", "panes"} and what Page::WriteListed adds ("kind": "debug"; "run": the page
  // that a stage's run begins with, which lists the "stories" of a folder with several functions
  // and the page that it "opens" at; "story": which of them it is in; "shows": the page whose graph
  // a stage that changed nothing has; "address": what a model opens with). "tabs": their names,
  // from the left; "same": the stage changed nothing; "module": it can be compared; "opened": it is
  // of a file, and can be run, placed and have passes run on it; "panes": it can be seen side by
  // side; "forgotten": it can be seen no more; "model" and "file", where there are several paths:
  // which of them, and what it is called. `in_file`: for a page without a server, which has not all
  // of it.
  std::string Json(bool in_file = false) const;

 private:
  struct Made {
    size_t first, count, weight;
  };
  struct NodeDataFile;
  size_t Append(std::vector<std::unique_ptr<Page>> pages, size_t model);
  Error Open(llvm::StringRef path, const std::string& title, llvm::StringRef signature);
  std::vector<std::shared_ptr<Page>> ForgetOldest();

  mutable std::shared_mutex mutex_;  // guards what follows
  std::vector<std::shared_ptr<Page>> pages_;
  std::deque<Made> made_;  // that are not forgotten, the oldest first
  size_t num_made_ = 0, made_weight_ = 0;

  std::vector<std::string> model_paths_;  // of AddPath
  std::vector<std::shared_ptr<const NodeDataFile>> node_data_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
