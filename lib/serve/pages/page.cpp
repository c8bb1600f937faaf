#include "lib/serve/pages/page.h"

#include "lib/ir/summary.h"

namespace grapnel {
namespace {

constexpr size_t kNodeWeight = 4096;  // bytes, if the graph is drawn alone, merged and side by side

}  // namespace

Page::~Page() = default;

Expected<Panes*> Page::SideBySide() {
  return MakeError("{0} is not a comparison of two graphs", title_);
}

// With both graphs of every stage, a file would be three times as large.
bool Page::HasPanesInFile() const { return HasPanes() && kind_ != Kind::kStage; }

std::vector<GraphPage*> Page::DrawingsInFile() {
  auto drawing = Drawing();
  if (!drawing) {
    llvm::consumeError(drawing.takeError());
    return {};
  }
  std::vector<GraphPage*> drawings = {*drawing};
  if (!HasPanesInFile()) return drawings;
  Panes& panes = *llvm::cantFail(SideBySide());
  drawings.insert(drawings.end(), {&panes.a(), &panes.b()});
  return drawings;
}

void Page::WriteListed(llvm::json::OStream&) const {}

size_t WeightOf(const GraphPage& drawing) {
  size_t nodes = 0;
  for (size_t body = 0; body < drawing.num_bodies(); ++body)
    nodes += drawing.graph(body).num_nodes();
  return nodes * kNodeWeight;
}

size_t WeightOf(const Module& module) {
  size_t bytes = 0;
  for (const auto& source : module.sources) bytes += source->bytes().size();
  return CountNodes(module) * kNodeWeight + bytes;
}

Expected<std::shared_ptr<const OpenedGraph>> OpenedOf(const Page& page) {
  auto opened = page.opened();
  if (!opened) return MakeError("{0} is not a graph of a file: it cannot be run", page.title());
  return opened;
}

}  // namespace grapnel
