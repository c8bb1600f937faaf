// The tab that places the graph on devices that the user chooses; the placement becomes a new page.
// Also compares the placement with a log of TensorFlow's.
#include "lib/serve/pages/stage_page.h"
#include "lib/serve/routes/tab.h"
#include "lib/serve/work/log_work.h"
#include "lib/serve/work/place_work.h"
#include "llvm/Support/Casting.h"

namespace grapnel {
namespace {

Expected<Document> Place(const RouteCall& call) {
  return PlaceFromPage(call.pages(), *call.page, call.body);
}

Expected<Document> Log(const RouteCall& call) {
  std::shared_ptr<Page> shown = call.page;
  if (const auto* stage = llvm::dyn_cast<StagePage>(call.page.get()))
    shown = call.pages().at(stage->Shown());
  return LogFromPage(*call.page, *shown, call.body);
}

bool IsOn(const Page& page) {
  const auto* stage = llvm::dyn_cast<StagePage>(&page);
  return stage ? stage->HasDump() : page.opened() != nullptr;
}

GRAPNEL_TAB({.place = 70,
             .name = "place",
             .needs_server = true,
             .is_on = IsOn,
             .routes = {
                 {Method::kPost, "{entry}/place", kLargestRequest, Place, WorkerClass::kWork},
                 {Method::kPost, "{entry}/log", kLargestFile, Log, WorkerClass::kWork}}});

}  // namespace
}  // namespace grapnel
