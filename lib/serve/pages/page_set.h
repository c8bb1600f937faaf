// The list of graphs that the page shows.
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

// Pages are numbered in the order in which they are added; pages of files stay. Thread-safe, also
// while pages are added.
class PageSet {
 public:
  // Limits for pages made on request: their number and approximate bytes.
  static constexpr size_t kMostMade = 500, kMostMadeWeight = size_t{192} << 20;

  // Returns the number of the page, or of the first one.
  size_t Add(std::unique_ptr<Page> page);
  size_t AddAll(std::vector<std::unique_ptr<Page>> pages);  // side by side
  // The same for pages that the user requested, made from the path `model`. If there are too many,
  // evicts the oldest: an EvictedPage with a notice takes its place.
  size_t AddMade(std::vector<std::unique_ptr<Page>> pages, size_t model = 0);
  // Adds every graph of a file, folder or case: for a folder of dumps each stage, for a folder of
  // TensorFlow's debugger a debug page. Errors name the path.
  Error AddPath(llvm::StringRef path, llvm::StringRef signature = {});

  // Adds numbers for nodes of any page, from a file for ReadNodeData. Call it before the set is
  // shared. Errors: the file cannot be read. MissingNodes reports names that are not nodes.
  Error AddNodeData(llvm::StringRef path);
  // [{"file", "text"}] of AddNodeData, unchanged: the page parses the text itself.
  std::string NodeDataJson() const;
  // Reports names in those files that are not nodes of any page, a line each. Errors: no name of a
  // file is a node.
  Expected<std::vector<std::string>> MissingNodes() const;

  size_t size() const;
  // Errors: no such page.
  Expected<std::shared_ptr<Page>> Find(size_t number) const;
  std::shared_ptr<Page> at(size_t number) const;  // must exist
  // The list of pages: {"id", "title", "tabs", "group", "note", "same", "module", "opened",
  // "panes"} and the attributes of Page::WriteListed ("kind": "debug"; "run": the page that a
  // stage's run begins with, which lists the "stories" of a folder with several functions and the
  // page that it "opens" at; "story": the one it is in; "shows": the page with the graph of a stage
  // that changed nothing; "address": the address that a model opens with). "tabs": their names,
  // from the left; "same": the stage changed nothing; "module": it can be compared; "opened": it is
  // of a file, and can be run, placed and optimized; "panes": it can be shown side by side;
  // "forgotten": it was evicted; "model" and "file", if there are several paths: the path's index,
  // and its name. `in_file`: for a page without a server, which does not have all of this.
  std::string Json(bool in_file = false) const;

 private:
  struct Made {
    size_t first, count, weight;
  };
  struct NodeDataFile;
  size_t Append(std::vector<std::unique_ptr<Page>> pages, size_t model);
  Error Open(llvm::StringRef path, const std::string& title, llvm::StringRef signature);
  std::vector<std::shared_ptr<Page>> ForgetOldest();

  mutable std::shared_mutex mutex_;  // guards the members below
  std::vector<std::shared_ptr<Page>> pages_;
  std::deque<Made> made_;  // not evicted, oldest first
  size_t num_made_ = 0, made_weight_ = 0;

  std::vector<std::string> model_paths_;  // of AddPath
  std::vector<std::shared_ptr<const NodeDataFile>> node_data_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
