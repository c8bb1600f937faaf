// The graph placed on devices that the reader names: the placement becomes a page of its own.
#include "lib/serve/pages/tab.h"
#include "lib/serve/work/place_work.h"

namespace grapnel {
namespace {

Expected<Document> Place(const RouteCall& call) {
  return PlaceFromPage(call.pages(), *call.page, call.body);
}

GRAPNEL_TAB({.place = 70,
             .name = "place",
             .needs_server = true,
             .is_on = [](const Page& page) { return page.opened() != nullptr; },
             .routes = {{Method::kPost, "{entry}/place", kLargestRequest, Place, Lane::kWork}}});

}  // namespace
}  // namespace grapnel
