// The tabs of a page: what each reads from the server, and what of that is in a file.
#ifndef GRAPNEL_LIB_SERVE_PAGES_TAB_H_
#define GRAPNEL_LIB_SERVE_PAGES_TAB_H_

#include <vector>

#include "lib/serve/http/routes.h"
#include "lib/serve/pages/file_documents.h"
#include "lib/serve/pages/page_set.h"
#include "lib/support/error.h"

namespace grapnel {

// A registration: lib/serve/tabs/NAME.cpp. lib/serve/web/NAME_tab.js draws it.
struct Tab {
  int place;                  // from the left, no two alike; a page opens with its first tab
  const char* name;           // as the URL and the script have it
  bool needs_server = false;  // a file has no such tab
  // The pages that have it, and its documents; null: every page.
  bool (*is_on)(const Page& page) = nullptr;
  std::vector<Route> routes = {};
  // Puts what it reads of a page into a file that has no server; null: nothing of its own.
  Error (*write)(const PageSet& pages, Page& page, FileDocuments& file) = nullptr;

  bool IsOn(const Page& page) const { return !is_on || is_on(page); }
};

bool RegisterTab(Tab tab);
// In their places.
const std::vector<Tab>& Tabs();

// At namespace scope, last in a tab's file:
//   GRAPNEL_TAB({.place = 30, .name = "functions"});
#define GRAPNEL_TAB(...)                                                            \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(tab_registered_, __COUNTER__) = \
      ::grapnel::RegisterTab(::grapnel::Tab __VA_ARGS__)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_TAB_H_
