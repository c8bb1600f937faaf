// The tabs of the page: the documents of the server that each tab reads, and which of them a page
// in a file contains.
#ifndef GRAPNEL_LIB_SERVE_ROUTES_TAB_H_
#define GRAPNEL_LIB_SERVE_ROUTES_TAB_H_

#include <vector>

#include "lib/serve/pages/file_documents.h"
#include "lib/serve/pages/page_set.h"
#include "lib/serve/routes/routes.h"
#include "lib/support/error.h"

namespace grapnel {

// The registration of a tab, in lib/serve/tabs/NAME.cpp. lib/serve/web/NAME_tab.js draws the tab.
struct Tab {
  int place;                  // unique; tabs are ordered by it; a page opens with its first tab
  const char* name;           // the name in the URL and in the script's file name
  bool needs_server = false;  // a page in a file does not have the tab
  // Returns whether a page has the tab and its documents; null: all pages have the tab.
  bool (*is_on)(const Page& page) = nullptr;
  std::vector<Route> routes = {};
  // Writes the documents that the tab reads of a page into a file without a server; null: the tab
  // needs no documents of its own.
  Error (*write)(const PageSet& pages, Page& page, FileDocuments& file) = nullptr;

  bool IsOn(const Page& page) const { return !is_on || is_on(page); }
};

bool RegisterTab(Tab tab);
// Returns the registered tabs, ordered by `place`.
const std::vector<Tab>& Tabs();
// Returns the names of the tabs that a page has, with a server and in a file.
std::vector<llvm::StringRef> TabNames(const Page& page);
std::vector<llvm::StringRef> TabNamesInFile(const Page& page);

// Registers a tab. Use it at namespace scope, last in the tab's file:
//   GRAPNEL_TAB({.place = 30, .name = "functions"});
#define GRAPNEL_TAB(...)                                                            \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(tab_registered_, __COUNTER__) = \
      ::grapnel::RegisterTab(::grapnel::Tab __VA_ARGS__)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTES_TAB_H_
