// The tab with Grappler's passes: shows the stages of a run, and runs passes on a model.
#include "lib/serve/pages/debug_page.h"
#include "lib/serve/pages/passes_json.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/serve/routes/tab.h"
#include "llvm/Support/Casting.h"

namespace grapnel {
namespace {

Expected<StagePage*> CheckStage(Page& page) {
  if (auto* stage = llvm::dyn_cast<StagePage>(&page)) return stage;
  return MakeError("{0} is not a stage of a run of passes", page.title());
}

Expected<Document> Passes(const RouteCall& call) {
  ASSIGN_OR_RETURN(StagePage * stage, CheckStage(*call.page));
  return PassesJson(call.pages(), *stage);
}

Expected<Document> Rewrites(const RouteCall& call) {
  ASSIGN_OR_RETURN(StagePage * stage, CheckStage(*call.page));
  return RewritesJson(*stage);
}

Expected<Document> Life(const RouteCall& call) {
  ASSIGN_OR_RETURN(StagePage * stage, CheckStage(*call.page));
  return LifeJson(*stage, call.body);
}

// Runs passes; the stages become new pages.
Expected<Document> Run(const RouteCall& call) {
  const Page& page = *call.page;
  if (!page.opened()) return MakeError("{0} is not a model from a file", page.title());
  ASSIGN_OR_RETURN(OptimizeRequest request, ParseOptimizeRequest(call.body));
  ASSIGN_OR_RETURN(PassRun run,
                   RunPasses(*page.opened(), std::move(request), page.title(), call.is_gone));
  return EntryJson(call.pages().AddMade(StagePages(std::move(run), page.title()), page.model()));
}

// Says why nodes are not rewritten, in a run of its own.
Expected<Document> WhyNot(const RouteCall& call) {
  const Page& page = *call.page;
  if (!page.opened()) return MakeError("{0} is not a model from a file", page.title());
  return WhyNotJson(*page.opened(), call.body, call.is_gone);
}

// Writes the run's table once, with the first stage, and for each stage its rewrites.
Error Write(const PageSet& pages, Page& page, FileDocuments& file) {
  auto* stage = llvm::dyn_cast<StagePage>(&page);
  if (!stage) return Error::success();
  if (stage->first() == stage->number()) file.Put("passes", PassesJson(pages, *stage));
  if (!stage->HasPanes() || stage->rewrites().empty()) return Error::success();
  ASSIGN_OR_RETURN(std::string rewrites, RewritesJson(*stage));
  file.Put("rewrites", rewrites);
  return Error::success();
}

GRAPNEL_TAB({.place = 50,
             .name = "passes",
             .is_on = [](const Page& page) { return !llvm::isa<DebugPage>(page); },
             .routes = {{Method::kGet, "{entry}/passes", kNoBody, Passes},
                        {Method::kGet, "{entry}/rewrites", kNoBody, Rewrites},
                        {Method::kPost, "{entry}/life", kLargestRequest, Life},
                        {Method::kPost, "{entry}/passes", kLargestRequest, Run, WorkerClass::kWork},
                        {Method::kPost, "{entry}/why_not", kLargestRequest, WhyNot,
                         WorkerClass::kWork}},
             .write = Write});

}  // namespace
}  // namespace grapnel
