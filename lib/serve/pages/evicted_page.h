// The placeholder for a page that was made on request and then evicted for newer pages.
#ifndef GRAPNEL_LIB_SERVE_PAGES_EVICTED_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_EVICTED_PAGE_H_

#include <string>
#include <utility>

#include "lib/serve/pages/page.h"

namespace grapnel {

// Keeps the number of the evicted page in use, because browsers may still refer to it.
class EvictedPage : public Page {
 public:
  explicit EvictedPage(std::string title) : Page(Kind::kForgotten, std::move(title)) {}
  static bool classof(const Page* page) { return page->kind() == Kind::kForgotten; }

  Expected<GraphPage*> Drawing() override {
    return MakeError("{0} was dropped to make room for newer pages: request it again", title());
  }
  void WriteListed(llvm::json::OStream& json) const override { json.attribute("forgotten", true); }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_EVICTED_PAGE_H_
