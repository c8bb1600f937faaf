#include "lib/serve/pages/stage_page.h"

#include <utility>

#include "lib/diff/diff_text.h"

namespace grapnel {

StagePage::StagePage(std::shared_ptr<const PassRun> run, size_t index, const std::string& title)
    : Page(Kind::kStage, run->timeline->stages[index].dump.stage),
      run_(std::move(run)),
      index_(index) {
  group_ = stage().dump.line.empty() ? title : stage().dump.line;
  note_ = stage().before < 0 ? "where it begins" : DiffSummary(stage().diff);
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

Expected<DiffGraph*> StagePage::Merged() {
  RETURN_IF_ERROR(Drawing().takeError());
  if (!merged_) return MakeError("{0} is where it begins: nothing is before it", title());
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

// A stage that changed something has a graph of its own.
size_t StagePage::Weight() const { return Differs() ? WeightOf(*stage().module) : 0; }

void StagePage::WriteListed(llvm::json::OStream& json) const {
  json.attribute("run", std::to_string(first()));
}

std::vector<std::unique_ptr<Page>> StagePages(PassRun run, const std::string& title) {
  auto kept = std::make_shared<const PassRun>(std::move(run));
  std::vector<std::unique_ptr<Page>> pages;
  for (size_t i = 0; i < kept->timeline->stages.size(); ++i)
    pages.push_back(std::make_unique<StagePage>(kept, i, title));
  return pages;
}

}  // namespace grapnel
