// The list of graphs that the browser shows.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
#define GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_

#include <deque>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "lib/serve/pages/page.h"
#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// All pages, numbered in the order in which they are added. Pages of files are never evicted, pages
// made on request may be. Thread-safe, even while pages are added.
class PageSet {
 public:
  // Limits on the number of pages made on request, and on their approximate bytes.
  static constexpr size_t kMostMade = 500, kMostMadeWeight = size_t{192} << 20;

  // Add one page, or several that get consecutive numbers. Return the number of the first.
  size_t Add(std::unique_ptr<Page> page);
  size_t AddAll(std::vector<std::unique_ptr<Page>> pages);  // consecutive numbers
  // As AddAll, for pages that were made on the user's request from the path with index `model`. If
  // there are too many such pages, replaces the oldest by an EvictedPage.
  size_t AddMade(std::vector<std::unique_ptr<Page>> pages, size_t model = 0);
  // Adds a page for every graph of a file, a folder or a case folder (lib/io/case.h): for a folder
  // of dumps, a page for each stage; for a folder of TensorFlow's debugger, a debug page. Errors
  // name the path.
  Error AddPath(llvm::StringRef path, llvm::StringRef signature = {});

  // Adds a file with numbers for nodes (ReadNodeData). The nodes may be on any page. Call it before
  // other threads use the set. Errors: the file cannot be read. MissingNodes reports names that are
  // not nodes.
  Error AddNodeData(llvm::StringRef path);
  // Returns the files of AddNodeData as [{"file", "text"}]: the page parses the text itself.
  std::string NodeDataJson() const;
  // Returns messages, one for each file of AddNodeData with names that are not nodes of any page.
  // Errors: no name in a file is a node.
  Expected<std::vector<std::string>> MissingNodes() const;

  size_t size() const;
  // Errors: no such page.
  Expected<std::shared_ptr<Page>> Find(size_t number) const;
  std::shared_ptr<Page> at(size_t number) const;  // the page must exist
  // Returns the names of the tabs of a page, from the left.
  using TabsOf = llvm::function_ref<std::vector<llvm::StringRef>(const Page& page)>;
  // The list of pages: {"id", "title", "tabs", "group", "note", "same", "module", "opened",
  // "panes"} and the attributes of Page::WriteListed ("kind": "debug"; "run": the page of the
  // first stage of a stage's run, which lists the "stories" of a folder with several stories and
  // the page that it "opens" at; "story": the index of the stage's story; "shows": the page with
  // the graph of a stage that changed nothing; "address": the address that a model opens with).
  // "tabs": as `tabs_of` returns them; "same": the stage changed nothing;
  // "module": the graph can be compared; "opened": the graph is from a file, and can be run, placed
  // and optimized; "panes": two graphs can be shown side by side; "forgotten": the page was
  // evicted; "model" and "file", if there are several paths: the path's index, and its name.
  // `in_file`: leaves out what a file without a server does not support.
  std::string Json(TabsOf tabs_of, bool in_file = false) const;

 private:
  struct Made {
    size_t first, count, weight;
  };
  struct NodeDataFile;
  size_t Append(std::vector<std::unique_ptr<Page>> pages, size_t model);
  Error Open(llvm::StringRef path, const std::string& title, llvm::StringRef signature);
  std::vector<std::shared_ptr<Page>> ForgetOldest();

  mutable std::shared_mutex mutex_;  // guards the members below except node_data_
  std::vector<std::shared_ptr<Page>> pages_;
  std::deque<Made> made_;  // groups that are not evicted, oldest first
  size_t num_made_ = 0, made_weight_ = 0;

  std::vector<std::string> model_paths_;  // the paths of AddPath
  std::vector<std::shared_ptr<const NodeDataFile>> node_data_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
