#include "lib/serve/page_set.h"

#include <mutex>

#include "lib/diff/diff_text.h"
#include "lib/render/labels.h"
#include "lib/serve/diff_page.h"
#include "lib/serve/placement_page.h"
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
  std::shared_ptr<Model> model;         // that a page of it points into
  const GraphInFile* file = nullptr;    // of the model
  std::unique_ptr<PlacedGraph> placed;  // that a page of it points into
  std::shared_ptr<const Timeline> timeline;
  const TimelineStage* stage = nullptr;  // of the timeline
  bool differs = true;
  std::once_flag once;
  std::unique_ptr<GraphPage> graph;
  std::unique_ptr<DiffPage> diff;
  std::unique_ptr<PlacementPage> placement;
  std::unique_ptr<DebugPage> debug;
  std::string problem;

  GraphPage* page() const {
    if (debug) return &debug->graph();
    if (diff) return &diff->page();
    return placement ? &placement->page() : graph.get();
  }
  void MakeStage();
};

PageSet::PageSet() = default;
PageSet::~PageSet() = default;

size_t PageSet::Add(std::unique_ptr<Entry> entry) {
  std::unique_lock lock(mutex_);
  entries_.push_back(std::move(entry));
  return entries_.size() - 1;
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
  entry->graph = std::make_unique<GraphPage>(module, signatures, title);
  entry->title = std::move(title);
  Add(std::move(entry));
}

Error PageSet::AddDiff(const Module& b, const Diff& diff, std::string title) {
  auto entry = std::make_unique<Entry>();
  ASSIGN_OR_RETURN(entry->diff, DiffPage::Make(b, diff, title));
  entry->title = std::move(title);
  entry->note = DiffSummary(diff);
  Add(std::move(entry));
  return Error::success();
}

void PageSet::AddPlacement(const PlacementContext& context, std::string title) {
  auto entry = std::make_unique<Entry>();
  entry->placement = std::make_unique<PlacementPage>(context, title, kMostExplained);
  entry->title = std::move(title);
  Add(std::move(entry));
}

Expected<size_t> PageSet::AddPlaced(std::unique_ptr<PlacedGraph> placed, std::string title) {
  size_t count = 0;
  for (size_t i = 0, end = size(); i < end; ++i) {
    const Entry& entry = *At(i);
    if (!entry.placed) continue;
    if (entry.title == title && entry.placed->opened.graph == placed->opened.graph) return i;
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

void PageSet::AddTimeline(const std::shared_ptr<const Timeline>& timeline, llvm::StringRef title) {
  for (const TimelineStage& stage : timeline->stages) {
    auto entry = std::make_unique<Entry>();
    entry->title = stage.dump.stage;
    entry->group = stage.dump.line.empty() ? title.str() : stage.dump.line;
    entry->timeline = timeline;
    entry->stage = &stage;
    entry->differs = stage.before < 0 || !stage.diff.Same();
    entry->note = stage.before < 0 ? "where it begins" : DiffSummary(stage.diff);
    Add(std::move(entry));
  }
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
    AddTimeline(std::make_shared<Timeline>(std::move(timeline)), title);
    return Error::success();
  }
  for (GraphInFile& file : model->graphs) {
    bool several = model->graphs.size() > 1 && !file.title.empty();
    auto entry = std::make_unique<Entry>();
    entry->title = several ? title + ": " + file.title : title;
    entry->graph = std::make_unique<GraphPage>(*file.module, file.signatures, entry->title);
    entry->model = model;
    entry->file = &file;
    Add(std::move(entry));
  }
  return Error::success();
}

void PageSet::Entry::MakeStage() {
  if (stage->before < 0) {
    graph = std::make_unique<GraphPage>(*stage->module, llvm::ArrayRef<Signature>(), title);
    return;
  }
  auto made = DiffPage::Make(*stage->module, stage->diff, title);
  if (made) {
    diff = std::move(*made);
  } else {
    problem = llvm::toString(made.takeError());
  }
}

Expected<GraphPage*> PageSet::Page(size_t index) {
  Entry* found = At(index);
  if (!found) return MakeError("there is no graph {0}: there are {1}", index, size());
  Entry& entry = *found;
  if (entry.stage) std::call_once(entry.once, [&] { entry.MakeStage(); });
  if (!entry.page()) return MakeError("{0}: {1}", entry.title, entry.problem);
  return entry.page();
}

Expected<const DebugPage*> PageSet::Debug(size_t index) const {
  const Entry* entry = At(index);
  if (!entry || !entry->debug) return MakeError("there is no debug folder {0}", index);
  return entry->debug.get();
}

Expected<OpenedGraph> PageSet::Opened(size_t index) const {
  const Entry* entry = At(index);
  if (!entry) return MakeError("there is no graph {0}: there are {1}", index, size());
  if (!entry->file) return MakeError("{0} is no graph of a file: it cannot be run", entry->title);
  return OpenedGraph{entry->model, entry->file};
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
          if (entry.file) json.attribute("opened", true);
          if (!entry.differs) json.attribute("same", true);
        });
      }
    });
  });
}

}  // namespace grapnel
