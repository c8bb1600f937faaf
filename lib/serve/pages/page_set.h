// The graphs that one page shows: models, a diff, the stages of a folder of dumps.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
#define GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/job/opened_graph.h"
#include "lib/place/explanation.h"
#include "lib/render/graph_page.h"
#include "lib/serve/pages/debug_page.h"
#include "lib/serve/work/pass_run.h"
#include "lib/support/error.h"

namespace grapnel {

struct PlacedGraph;  // lib/serve/pages/placement_page.h
class PanesPage;
struct EntryPlace;

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
  // What differs between two graphs that outlive the set.
  Expected<size_t> AddDiff(const Module& a, const Module& b, const Diff& diff, std::string title);
  // A placed graph; see PlacementPage. All that `context` speaks of outlives the set.
  void AddPlacement(const PlacementContext& context, std::string title);
  // The same of a placement that the set keeps; its entry, which is an older one if that was placed
  // alike. Errors: there are too many.
  Expected<size_t> AddPlaced(std::unique_ptr<PlacedGraph> placed, std::string title);
  // Each stage as what it changed; gives the first one's entry. Pages of stages are made when they
  // are first asked for.
  size_t AddStages(PassStory story, const std::string& title);

  // What the page asks for: both give the number of a new entry. Errors are for its reader.
  // Runs Grappler's passes on a model; `request` as ParseOptimizeRequest has it.
  Expected<size_t> RunPasses(size_t entry, llvm::StringRef request);
  // What differs between two entries.
  Expected<size_t> Compare(size_t a, size_t b);

  size_t size() const;
  // Errors: there is no such entry.
  Expected<GraphPage*> Page(size_t entry);
  enum class Side { kA, kB };
  // Of a diff or a stage: one of the two graphs alone, and what matches what (PanesPage).
  Expected<GraphPage*> Pane(size_t entry, Side side);
  Expected<std::string> MatchJson(size_t entry);
  // The story that a stage is of, and what the stage rewrote (passes_page.h).
  Expected<std::string> PassesJson(size_t entry);
  Expected<std::string> RewritesJson(size_t entry);
  // Whether PassesJson of this entry is that of a whole story: its first stage.
  bool BeginsStory(size_t entry) const;
  bool IsStage(size_t entry) const;
  bool HasRewrites(size_t entry) const;  // that RewritesJson tells
  bool HasPanes(size_t entry) const;     // whether Pane and MatchJson have something
  // Of a debug folder, which has a graph too. Errors: the entry is none.
  Expected<const DebugPage*> Debug(size_t entry) const;
  // What can be run and placed. Errors: the entry is no graph of a file.
  Expected<std::shared_ptr<const OpenedGraph>> Opened(size_t entry) const;
  bool IsDebug(size_t entry) const;
  // Whether the page of an entry is worth writing: not of a stage that changed nothing.
  bool Differs(size_t entry) const;
  // A list of {"id", "title", "kind", "group", "note", "same", "story", "module", "opened",
  // "panes"}: what is there to choose from. "story": the entry that a stage's story begins with;
  // "module": it can be compared; "opened": it is of a file, and can be run, placed and have passes
  // run on it; "panes": it can be seen side by side.
  std::string Json() const;

 private:
  struct Entry;
  using NewEntries = std::vector<std::unique_ptr<Entry>>;
  size_t Add(std::unique_ptr<Entry> entry);
  size_t AddAll(NewEntries entries);  // side by side; the first one's number
  Expected<Entry*> Find(size_t index) const;
  Expected<PanesPage*> Panes(size_t entry);
  std::optional<EntryPlace> PlaceOf(const PassStory& story, size_t first, const Refusal& refusal);
  Entry* At(size_t index) const;  // null when there is none

  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PAGE_SET_H_
