#include "lib/serve/pages/page_set.h"

#include <mutex>

#include "lib/diff/diff_text.h"
#include "lib/render/labels.h"
#include "lib/serve/pages/diff_page.h"
#include "lib/serve/pages/panes_page.h"
#include "lib/serve/pages/passes_page.h"
#include "lib/serve/pages/placement_page.h"
#include "lib/support/thread_pool.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

constexpr size_t kMostExplained = 5000;
constexpr size_t kMostPlaced = 100;  // entries that a page may ask for

}  // namespace

struct PageSet::Entry {
  std::string title, group, note;
  std::shared_ptr<const OpenedGraph> opened;  // that a page of it points into
  std::unique_ptr<PlacedGraph> placed;        // that a page of it points into
  const Module* module = nullptr;             // what can be compared
  std::shared_ptr<const PassStory> story;
  size_t first = 0;                      // entry of the story's first stage
  const TimelineStage* stage = nullptr;  // of the story
  bool differs = true;
  std::once_flag once, panes_once;
  std::unique_ptr<GraphPage> graph;
  std::unique_ptr<DiffPage> diff;
  std::unique_ptr<PanesPage> panes;
  std::unique_ptr<PlacementPage> placement;
  std::unique_ptr<DebugPage> debug;
  std::string problem;

  GraphPage* page() const {
    if (debug) return &debug->graph();
    if (diff) return &diff->page();
    return placement ? &placement->page() : graph.get();
  }
  bool has_panes() const { return panes || (stage && stage->before >= 0 && differs); }
  void MakeStage();
  void MakePanes();
};

PageSet::PageSet() = default;
PageSet::~PageSet() = default;

size_t PageSet::Add(std::unique_ptr<Entry> entry) {
  NewEntries one;
  one.push_back(std::move(entry));
  return AddAll(std::move(one));
}

size_t PageSet::AddAll(NewEntries entries) {
  std::unique_lock lock(mutex_);
  size_t first = entries_.size();
  for (std::unique_ptr<Entry>& entry : entries) {
    entry->first = first;
    entries_.push_back(std::move(entry));
  }
  return first;
}

PageSet::Entry* PageSet::At(size_t index) const {
  std::shared_lock lock(mutex_);
  return index < entries_.size() ? entries_[index].get() : nullptr;
}

size_t PageSet::size() const {
  std::shared_lock lock(mutex_);
  return entries_.size();
}

void PageSet::AddGraph(const Module& module, llvm::ArrayRef<Signature> signatures,
                       std::string title) {
  auto entry = std::make_unique<Entry>();
  entry->module = &module;
  entry->graph = std::make_unique<GraphPage>(module, signatures, title);
  entry->title = std::move(title);
  Add(std::move(entry));
}

Expected<size_t> PageSet::AddDiff(const Module& a, const Module& b, const Diff& diff,
                                  std::string title) {
  auto entry = std::make_unique<Entry>();
  ASSIGN_OR_RETURN(entry->diff, DiffPage::Make(b, diff, title));
  entry->panes = std::make_unique<PanesPage>(a, b, diff, *entry->diff);
  entry->title = std::move(title);
  entry->note = DiffSummary(diff);
  return Add(std::move(entry));
}

void PageSet::AddPlacement(const PlacementContext& context, std::string title) {
  auto entry = std::make_unique<Entry>();
  entry->placement = std::make_unique<PlacementPage>(context, title, kMostExplained);
  entry->title = std::move(title);
  Add(std::move(entry));
}

size_t PageSet::AddStages(PassStory told, const std::string& title) {
  auto story = std::make_shared<const PassStory>(std::move(told));
  NewEntries entries;
  for (const TimelineStage& stage : story->timeline->stages) {
    auto entry = std::make_unique<Entry>();
    entry->title = stage.dump.stage;
    entry->group = stage.dump.line.empty() ? title : stage.dump.line;
    entry->story = story;
    entry->stage = &stage;
    entry->module = stage.module.get();
    entry->differs = stage.before < 0 || !stage.diff.Same();
    entry->note = stage.before < 0 ? "where it begins" : DiffSummary(stage.diff);
    entries.push_back(std::move(entry));
  }
  return AddAll(std::move(entries));
}

Expected<size_t> PageSet::AddPlaced(std::unique_ptr<PlacedGraph> placed, std::string title) {
  size_t count = 0;
  for (size_t i = 0, end = size(); i < end; ++i) {
    const Entry& entry = *At(i);
    if (!entry.placed) continue;
    if (entry.title == title && entry.placed->opened == placed->opened) return i;
    ++count;
  }
  if (count == kMostPlaced)
    return MakeError("{0} placements are kept already: begin anew to see others", count);
  auto entry = std::make_unique<Entry>();
  entry->placement = std::make_unique<PlacementPage>(placed->context(), title, kMostExplained);
  entry->placed = std::move(placed);
  entry->title = std::move(title);
  entry->note = "placed";
  return Add(std::move(entry));
}

Error PageSet::AddPath(llvm::StringRef path) {
  std::string title = llvm::sys::path::filename(path).str();
  if (IsDebugFolder(path)) {
    auto entry = std::make_unique<Entry>();
    ASSIGN_OR_RETURN(entry->debug, DebugPage::Open(path));
    entry->title = title;
    Add(std::move(entry));
    return Error::success();
  }
  ASSIGN_OR_RETURN(Model opened, OpenModel(path));
  auto model = std::make_shared<Model>(std::move(opened));
  if (model->kind == FileKind::kDumpFolder) {
    ThreadPool pool;
    ASSIGN_OR_RETURN(Timeline timeline, ReadTimeline(path, {}, pool));
    PassStory story;
    story.timeline = std::make_shared<Timeline>(std::move(timeline));
    story.record = ReadRunRecord(path);
    AddStages(std::move(story), title);
    return Error::success();
  }
  for (size_t i = 0; i < model->graphs.size(); ++i) {
    const GraphInFile& file = model->graphs[i];
    bool several = model->graphs.size() > 1 && !file.title.empty();
    auto entry = std::make_unique<Entry>();
    entry->title = several ? title + ": " + file.title : title;
    entry->graph = std::make_unique<GraphPage>(*file.module, file.signatures, entry->title);
    entry->opened = std::make_shared<const OpenedGraph>(model, i);
    entry->module = file.module.get();
    Add(std::move(entry));
  }
  return Error::success();
}

void PageSet::Entry::MakeStage() {
  if (stage->before < 0) {
    graph = std::make_unique<GraphPage>(*stage->module, llvm::ArrayRef<Signature>(), title);
    return;
  }
  const StageRecord* record = story->record.StageOf(stage->dump.file);
  auto made = DiffPage::Make(*stage->module, stage->diff, title,
                             record ? llvm::ArrayRef(record->rewrites) : std::nullopt);
  if (made) {
    diff = std::move(*made);
  } else {
    problem = llvm::toString(made.takeError());
  }
}

void PageSet::Entry::MakePanes() {
  if (panes || !diff || !stage) return;
  const Module& before = *story->timeline->stages[stage->before].module;
  panes = std::make_unique<PanesPage>(before, *stage->module, stage->diff, *diff);
}

Expected<PageSet::Entry*> PageSet::Find(size_t index) const {
  Entry* found = At(index);
  if (!found) return MakeError("there is no graph {0}: there are {1}", index, size());
  return found;
}

Expected<GraphPage*> PageSet::Page(size_t index) {
  ASSIGN_OR_RETURN(Entry * found, Find(index));
  Entry& entry = *found;
  if (entry.stage) std::call_once(entry.once, [&] { entry.MakeStage(); });
  if (!entry.page()) return MakeError("{0}: {1}", entry.title, entry.problem);
  return entry.page();
}

Expected<PanesPage*> PageSet::Panes(size_t index) {
  RETURN_IF_ERROR(Page(index).takeError());
  Entry& entry = *At(index);
  std::call_once(entry.panes_once, [&] { entry.MakePanes(); });
  if (!entry.panes) return MakeError("{0} is no comparison of two graphs", entry.title);
  return entry.panes.get();
}

Expected<GraphPage*> PageSet::Pane(size_t index, Side side) {
  ASSIGN_OR_RETURN(PanesPage * panes, Panes(index));
  return side == Side::kA ? &panes->a() : &panes->b();
}

Expected<std::string> PageSet::MatchJson(size_t index) {
  ASSIGN_OR_RETURN(PanesPage * panes, Panes(index));
  return panes->MatchJson();
}

// In the last graph of the story, else in the first.
std::optional<EntryPlace> PageSet::PlaceOf(const PassStory& story, size_t first,
                                           const Refusal& refusal) {
  size_t last = first + story.timeline->stages.size() - 1;
  while (last > first && !Differs(last)) --last;
  for (size_t entry : {last, first}) {
    auto page = Page(entry);
    if (!page) {
      llvm::consumeError(page.takeError());
    } else if (auto place = (*page)->Find(refusal.function, refusal.node)) {
      return EntryPlace{entry, *place};
    }
  }
  return std::nullopt;
}

Expected<std::string> PageSet::PassesJson(size_t index) {
  ASSIGN_OR_RETURN(Entry * entry, Find(index));
  if (!entry->story) return MakeError("{0} is no stage of a run of passes", entry->title);
  const PassStory& story = *entry->story;
  return grapnel::PassesJson(story, entry->first, [&](const Refusal& refusal) {
    return PlaceOf(story, entry->first, refusal);
  });
}

Expected<std::string> PageSet::RewritesJson(size_t index) {
  ASSIGN_OR_RETURN(Entry * entry, Find(index));
  RETURN_IF_ERROR(Page(index).takeError());
  if (!entry->story || !entry->diff)
    return MakeError("{0} is no stage of a run of passes", entry->title);
  const StageRecord* record = entry->story->record.StageOf(entry->stage->dump.file);
  if (!record) return grapnel::RewritesJson({}, *entry->diff);
  return grapnel::RewritesJson(record->rewrites, *entry->diff);
}

bool PageSet::IsStage(size_t entry) const { return At(entry)->story != nullptr; }

bool PageSet::HasPanes(size_t entry) const { return At(entry)->has_panes(); }

bool PageSet::HasRewrites(size_t entry) const {
  const Entry& found = *At(entry);
  const StageRecord* record = found.stage && found.has_panes()
                                  ? found.story->record.StageOf(found.stage->dump.file)
                                  : nullptr;
  return record && !record->rewrites.empty();
}

bool PageSet::BeginsStory(size_t entry) const {
  return IsStage(entry) && At(entry)->first == entry;
}

Expected<size_t> PageSet::RunPasses(size_t index, llvm::StringRef request) {
  ASSIGN_OR_RETURN(Entry * entry, Find(index));
  if (!entry->opened) return MakeError("{0} is no model from a file", entry->title);
  ASSIGN_OR_RETURN(OptimizeRequest wish, ParseOptimizeRequest(request));
  ASSIGN_OR_RETURN(PassStory story,
                   grapnel::RunPasses(*entry->opened, std::move(wish), entry->title));
  return AddStages(std::move(story), entry->title);
}

Expected<size_t> PageSet::Compare(size_t index_a, size_t index_b) {
  ASSIGN_OR_RETURN(Entry * a, Find(index_a));
  ASSIGN_OR_RETURN(Entry * b, Find(index_b));
  for (Entry* entry : {a, b}) {
    if (!entry->module) return MakeError("{0} is no graph that can be compared", entry->title);
  }
  if (a == b) return MakeError("choose two graphs: both are {0}", a->title);
  Diff diff = DiffModules(*a->module, *b->module, {});
  return AddDiff(*a->module, *b->module, diff, a->title + " \xe2\x86\x92 " + b->title);
}

Expected<const DebugPage*> PageSet::Debug(size_t index) const {
  const Entry* entry = At(index);
  if (!entry || !entry->debug) return MakeError("there is no debug folder {0}", index);
  return entry->debug.get();
}

Expected<std::shared_ptr<const OpenedGraph>> PageSet::Opened(size_t index) const {
  const Entry* entry = At(index);
  if (!entry) return MakeError("there is no graph {0}: there are {1}", index, size());
  if (!entry->opened) return MakeError("{0} is no graph of a file: it cannot be run", entry->title);
  return entry->opened;
}

bool PageSet::IsDebug(size_t entry) const { return At(entry)->debug != nullptr; }

bool PageSet::Differs(size_t entry) const { return At(entry)->differs; }

std::string PageSet::Json() const {
  return PageDocument([&](llvm::json::OStream& json) {
    json.array([&] {
      for (size_t i = 0, count = size(); i < count; ++i) {
        const Entry& entry = *At(i);
        json.object([&] {
          json.attribute("id", std::to_string(i));
          json.attribute("title", Printable(entry.title));
          if (entry.debug) json.attribute("kind", "debug");
          if (!entry.group.empty()) json.attribute("group", Printable(entry.group));
          if (!entry.note.empty()) json.attribute("note", Printable(entry.note));
          if (entry.opened) json.attribute("opened", true);
          if (!entry.differs) json.attribute("same", true);
          if (entry.story) json.attribute("story", std::to_string(entry.first));
          if (entry.opened || entry.stage) json.attribute("module", true);
          if (entry.has_panes()) json.attribute("panes", true);
        });
      }
    });
  });
}

}  // namespace grapnel
