// What is left of a page that was made for a reader when newer ones took its place.
#ifndef GRAPNEL_LIB_SERVE_PAGES_FORGOTTEN_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_FORGOTTEN_PAGE_H_

#include <string>
#include <utility>

#include "lib/serve/pages/page.h"

namespace grapnel {

// Its number stays taken: pages that are open count on it.
class EvictedPage : public Page {
 public:
  explicit EvictedPage(std::string title) : Page(Kind::kForgotten, std::move(title)) {}
  static bool classof(const Page* page) { return page->kind() == Kind::kForgotten; }

  Expected<GraphPage*> Drawing() override {
    return MakeError("{0} is not kept any more, newer work took its place: ask for it again",
                     title());
  }
  void WriteListed(llvm::json::OStream& json) const override { json.attribute("forgotten", true); }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_FORGOTTEN_PAGE_H_
