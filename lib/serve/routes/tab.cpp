#include "lib/serve/routes/tab.h"

#include <algorithm>
#include <utility>

namespace grapnel {
namespace {

std::vector<Tab>& Registered() {
  static auto* tabs = new std::vector<Tab>;
  return *tabs;
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

}  // namespace grapnel
