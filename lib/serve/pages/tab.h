// The tabs of the page: the server documents that each reads, and which of them a file contains.
#ifndef GRAPNEL_LIB_SERVE_PAGES_TAB_H_
#define GRAPNEL_LIB_SERVE_PAGES_TAB_H_

#include <vector>

#include "lib/serve/http/routes.h"
#include "lib/serve/pages/file_documents.h"
#include "lib/serve/pages/page_set.h"
#include "lib/support/error.h"

namespace grapnel {

// A registration: lib/serve/tabs/NAME.cpp. lib/serve/web/NAME_tab.js draws the tab.
struct Tab {
  int place;                  // order from the left, unique; a page opens with its first tab
  const char* name;           // as in the URL and the script
  bool needs_server = false;  // a page in a file does not have it
  // The pages that have the tab and its documents; null: all pages.
  bool (*is_on)(const Page& page) = nullptr;
  std::vector<Route> routes = {};
  // Writes what it reads of a page into a file without a server; null: nothing of its own.
  Error (*write)(const PageSet& pages, Page& page, FileDocuments& file) = nullptr;

  bool IsOn(const Page& page) const { return !is_on || is_on(page); }
};

bool RegisterTab(Tab tab);
// Ordered by place.
const std::vector<Tab>& Tabs();

// At namespace scope, last in a tab's file:
//   GRAPNEL_TAB({.place = 30, .name = "functions"});
#define GRAPNEL_TAB(...)                                                            \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(tab_registered_, __COUNTER__) = \
      ::grapnel::RegisterTab(::grapnel::Tab __VA_ARGS__)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_TAB_H_
