// The stages of a run of passes, with the changes of each.
#ifndef GRAPNEL_LIB_SERVE_PAGES_STAGE_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_STAGE_PAGE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/serve/pages/diff_graph.h"
#include "lib/serve/pages/page.h"
#include "lib/serve/pages/pass_run.h"

namespace grapnel {

// A page that compares a stage with the previous stage of its graph; for the first one, it shows
// only the graph.
class StagePage : public Page {
 public:
  StagePage(std::shared_ptr<const PassRun> run, size_t index, const std::string& title);
  static bool classof(const Page* page) { return page->kind() == Kind::kStage; }

  const PassRun& run() const { return *run_; }
  const TimelineStage& stage() const { return run_->timeline->stages[index_]; }
  // The number of the page of the run's first stage: the stages of a run have consecutive numbers.
  size_t first() const { return number() - index_; }
  // The number of the page that shows the stage's graph: this page or, if this stage changed
  // nothing, that of the last earlier stage that did, or of the first stage.
  size_t Shown() const;
  // The stage's rewrites; empty if they were not recorded, as in TensorFlow's dumps.
  llvm::ArrayRef<Rewrite> rewrites() const;
  // Returns the stage's graph and the one before, merged into one. Errors: the stage is the first
  // of its graph.
  Expected<DiffGraph*> Merged();

  // True if the stage's graph is a dump in a folder, which OpenDump can read again.
  bool HasDump() const { return !run_->folder.empty(); }
  Expected<OpenedGraph> OpenDump() const;

  Expected<GraphPage*> Drawing() override;
  Expected<Panes*> SideBySide() override;
  bool HasPanes() const override { return stage().before >= 0 && Differs(); }
  size_t Weight() const override;
  bool Differs() const override { return stage().before < 0 || !stage().diff.Same(); }
  const Module* module() const override { return stage().module.get(); }
  void WriteListed(llvm::json::OStream& json) const override;

 private:
  void Draw();
  void WriteStories(llvm::json::OStream& json) const;

  std::shared_ptr<const PassRun> run_;
  size_t index_;
  std::once_flag drawn_once_, panes_once_;
  std::unique_ptr<GraphPage> alone_;   // for the first stage of a graph
  std::unique_ptr<DiffGraph> merged_;  // for all other stages
  std::unique_ptr<Panes> panes_;
  std::string problem_;  // the reason why both are null
};

// Makes a page for each stage, in the order of the run. A page draws nothing until requested.
std::vector<std::unique_ptr<Page>> StagePages(PassRun run, const std::string& title);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_STAGE_PAGE_H_
