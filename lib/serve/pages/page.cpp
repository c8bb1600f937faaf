#include "lib/serve/pages/page.h"

namespace grapnel {

Page::~Page() = default;

Expected<Panes*> Page::SideBySide() {
  return MakeError("{0} is no comparison of two graphs", title_);
}

void Page::WriteListed(llvm::json::OStream&) const {}

Expected<std::shared_ptr<const OpenedGraph>> DemandOpened(const Page& page) {
  auto opened = page.opened();
  if (!opened) return MakeError("{0} is no graph of a file: it cannot be run", page.title());
  return opened;
}

}  // namespace grapnel
