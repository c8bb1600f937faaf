#include "lib/serve/routes/tab.h"

#include <algorithm>
#include <utility>

namespace grapnel {
namespace {

std::vector<Tab>& Registered() {
  static auto* tabs = new std::vector<Tab>;
  return *tabs;
}

std::vector<llvm::StringRef> NamesOfTabs(const Page& page, bool in_file) {
  std::vector<llvm::StringRef> names;
  for (const Tab& tab : Tabs())
    if (tab.IsOn(page) && !(in_file && tab.needs_server)) names.push_back(tab.name);
  return names;
}

}  // namespace

bool RegisterTab(Tab tab) {
  std::vector<Tab>& tabs = Registered();
  auto before = [](const Tab& a, const Tab& b) { return a.place < b.place; };
  auto at = std::upper_bound(tabs.begin(), tabs.end(), tab, before);
  tabs.insert(at, std::move(tab));
  return true;
}

const std::vector<Tab>& Tabs() { return Registered(); }

std::vector<llvm::StringRef> TabNames(const Page& page) { return NamesOfTabs(page, false); }
std::vector<llvm::StringRef> TabNamesInFile(const Page& page) { return NamesOfTabs(page, true); }

}  // namespace grapnel
