#include "lib/serve/pages/stage_page.h"

#include <utility>

#include "lib/diff/diff_text.h"
#include "lib/render/labels.h"
#include "lib/support/printable.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

namespace grapnel {

StagePage::StagePage(std::shared_ptr<const PassRun> run, size_t index, const std::string& title)
    : Page(Kind::kStage, run->timeline->stages[index].dump.stage),
      run_(std::move(run)),
      index_(index) {
  group_ = stage().dump.line.empty() ? title : stage().dump.line;
  note_ = stage().before < 0 ? "the first graph" : DiffSummary(stage().diff);
}

llvm::ArrayRef<Rewrite> StagePage::rewrites() const {
  const StageRecord* record = run_->record.StageOf(stage().dump.file);
  return record ? llvm::ArrayRef<Rewrite>(record->rewrites) : llvm::ArrayRef<Rewrite>();
}

void StagePage::Draw() {
  if (stage().before < 0) {
    alone_ = std::make_unique<GraphPage>(*stage().module, llvm::ArrayRef<Signature>(), title());
    return;
  }
  auto made = DiffGraph::Make(*stage().module, stage().diff, title(), rewrites());
  if (made) {
    merged_ = std::move(*made);
  } else {
    problem_ = llvm::toString(made.takeError());
  }
}

Expected<GraphPage*> StagePage::Drawing() {
  std::call_once(drawn_once_, [this] { Draw(); });
  if (alone_) return alone_.get();
  if (merged_) return &merged_->page();
  return MakeError("{0}: {1}", title(), problem_);
}

Expected<OpenedGraph> StagePage::OpenDump() const {
  if (!HasDump()) return MakeError("{0} is not a graph from a file", title());
  llvm::SmallString<256> path(run_->folder);
  llvm::sys::path::append(path, stage().dump.file);
  return OpenedGraph::Open(path);
}

Expected<DiffGraph*> StagePage::Merged() {
  RETURN_IF_ERROR(Drawing().takeError());
  if (!merged_) return MakeError("{0} is the first stage: there is nothing before it", title());
  return merged_.get();
}

Expected<Panes*> StagePage::SideBySide() {
  auto merged = Merged();
  if (!merged) {
    llvm::consumeError(merged.takeError());
    return Page::SideBySide();
  }
  std::call_once(panes_once_, [&] {
    const Module& before = *run_->timeline->stages[stage().before].module;
    panes_ = std::make_unique<Panes>(before, *stage().module, stage().diff, **merged);
  });
  return panes_.get();
}

// A stage that changed nothing mostly shares its graph with an earlier stage.
size_t StagePage::Weight() const { return Differs() ? WeightOf(*stage().module) : 0; }

size_t StagePage::Shown() const {
  int index = static_cast<int>(index_);
  const std::vector<TimelineStage>& stages = run_->timeline->stages;
  while (stages[index].before >= 0 && stages[index].diff.Same()) index = stages[index].before;
  return first() + index;
}

void StagePage::WriteStories(llvm::json::OStream& json) const {
  json.attributeArray("stories", [&] {
    for (const Story& story : run_->stories) {
      json.object([&] {
        json.attribute("function", Printable(story.function));
        json.attribute("title", Printable(story.title));
        json.attribute("line", Printable(story.line));
        json.attribute("entry", first() + story.stages.front());
        json.attribute("nodes", story.nodes);
        json.attribute("stages", story.stages.size());
        json.attribute("changed", story.changed);
      });
    }
  });
}

void StagePage::WriteListed(llvm::json::OStream& json) const {
  json.attribute("run", std::to_string(first()));
  if (size_t shown = Shown(); shown != number()) json.attribute("shows", shown);
  if (run_->stories.size() < 2) return;
  json.attribute("story", run_->story_of[index_]);
  if (index_ > 0) return;
  const Story& largest = run_->stories[LargestStory(run_->stories)];
  json.attribute("opens", first() + largest.stages.front());
  WriteStories(json);
}

std::vector<std::unique_ptr<Page>> StagePages(PassRun run, const std::string& title) {
  run.stories = StoriesOf(*run.timeline);
  run.story_of.resize(run.timeline->stages.size());
  for (size_t i = 0; i < run.stories.size(); ++i) {
    for (int stage : run.stories[i].stages) run.story_of[stage] = static_cast<int>(i);
  }
  auto kept = std::make_shared<const PassRun>(std::move(run));
  std::vector<std::unique_ptr<Page>> pages;
  for (size_t i = 0; i < kept->timeline->stages.size(); ++i)
    pages.push_back(std::make_unique<StagePage>(kept, i, title));
  return pages;
}

}  // namespace grapnel
