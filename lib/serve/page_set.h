// The graphs that one page shows: models, a diff, the stages of a folder of dumps.
#ifndef GRAPNEL_LIB_SERVE_PAGE_SET_H_
#define GRAPNEL_LIB_SERVE_PAGE_SET_H_

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/diff/timeline.h"
#include "lib/place/explanation.h"
#include "lib/render/graph_page.h"
#include "lib/serve/debug_page.h"
#include "lib/serve/opened_graph.h"
#include "lib/support/error.h"

namespace grapnel {

struct PlacedGraph;  // lib/serve/placement_page.h

// Entries are numbered in the order in which they are added, and stay. Safe to use from several
// threads, to add while others read too.
class PageSet {
 public:
  PageSet();
  ~PageSet();

  // Every graph that is in a file, folder or case; a folder of dumps is a timeline, one of
  // TensorFlow's debugger a debug page. Errors name the path.
  Error AddPath(llvm::StringRef path);
  // A graph that outlives the set.
  void AddGraph(const Module& module, llvm::ArrayRef<Signature> signatures, std::string title);
  Error AddDiff(const Module& b, const Diff& diff, std::string title);
  // A placed graph; see PlacementPage. All that `context` speaks of outlives the set.
  void AddPlacement(const PlacementContext& context, std::string title);
  // The same of a placement that the set keeps; its entry, which is an older one if that was placed
  // alike. Errors: there are too many.
  Expected<size_t> AddPlaced(std::unique_ptr<PlacedGraph> placed, std::string title);
  // Each stage as what it changed. Pages of stages are made when they are first asked for.
  void AddTimeline(const std::shared_ptr<const Timeline>& timeline, llvm::StringRef title);

  size_t size() const;
  // Errors: there is no such entry.
  Expected<GraphPage*> Page(size_t entry);
  // Of a debug folder, which has a graph too. Errors: the entry is none.
  Expected<const DebugPage*> Debug(size_t entry) const;
  // What can be run and placed. Errors: the entry is no graph of a file.
  Expected<OpenedGraph> Opened(size_t entry) const;
  bool IsDebug(size_t entry) const;
  // Whether the page of an entry is worth writing: not of a stage that changed nothing.
  bool Differs(size_t entry) const;
  // A list of {"id", "title", "kind", "group", "note", "same", "opened"}: what is there to choose
  // from.
  std::string Json() const;

 private:
  struct Entry;
  size_t Add(std::unique_ptr<Entry> entry);
  Entry* At(size_t index) const;  // null when there is none

  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGE_SET_H_
