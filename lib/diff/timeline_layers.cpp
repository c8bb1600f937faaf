#include "lib/diff/timeline_layers.h"

#include "lib/diff/named_nodes.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostGraphs = 2;

}  // namespace

const LayerNames& TimelineLayers::NamesAt(int stage) {
  auto found = names_.find(stage);
  if (found == names_.end())
    found = names_.emplace(stage, LayerNames(LayersOf(*timeline_.stages[stage].module))).first;
  return found->second;
}

LayerStory TimelineLayers::StoryFrom(int begin, const TimelineStage& before,
                                     const TimelineStage& now) {
  if (now.diff.Same()) return {};
  const LayerNames& names = NamesAt(begin);
  DiffOfLayers graphs{*before.module, *now.module, now.diff, names, names};
  graphs.of_stages = true;
  return StoryOf(graphs);
}

LayerStory TimelineLayers::OfStage(int stage) {
  const TimelineStage& now = timeline_.stages[stage];
  if (now.before < 0) return {};
  return StoryFrom(BeginOf(timeline_, stage), timeline_.stages[now.before], now);
}

std::vector<TimelineLayers::Whole> TimelineLayers::Graphs() const {
  std::map<int, Whole> by_begin;
  for (size_t i = 0; i < timeline_.stages.size(); ++i) {
    int stage = static_cast<int>(i), begin = BeginOf(timeline_, stage);
    bool is_same_graph = timeline_.stages[i].dump.line == timeline_.stages[begin].dump.line;
    if (!is_same_graph) continue;
    Whole& whole = by_begin.try_emplace(begin, Whole{stage, stage}).first->second;
    whole.last = stage;
    if (!timeline_.stages[i].diff.opened.empty()) whole.first = stage;
  }
  std::vector<Whole> graphs;
  for (const auto& [begin, whole] : by_begin)
    if (whole.first != whole.last) graphs.push_back(whole);
  return graphs;
}

LayerStory TimelineLayers::OfGraph(const Whole& graph) {
  const TimelineStage &first = timeline_.stages[graph.first], &last = timeline_.stages[graph.last];
  if (last.before == graph.first) return StoryFrom(graph.first, first, last);
  Timeline ends;
  AddStage(first.dump, first.module, -1, &ends);
  AddStage(last.dump, last.module, 0, &ends);
  return StoryFrom(graph.first, ends.stages[0], ends.stages[1]);
}

void WriteTimelineLayers(const Timeline& timeline, bool all, llvm::raw_ostream& os) {
  TimelineLayers layers(timeline);
  std::vector<TimelineLayers::Whole> graphs = layers.Graphs();
  llvm::stable_sort(graphs, [&](const auto& x, const auto& y) {
    return timeline.stages[x.first].nodes > timeline.stages[y.first].nodes;
  });
  std::vector<std::pair<std::string, size_t>> told;  // stories, and how many other graphs have them
  for (const TimelineLayers::Whole& graph : graphs) {
    if (told.size() == kMostGraphs && !all) break;
    const DumpStage &first = timeline.stages[graph.first].dump,
                    &last = timeline.stages[graph.last].dump;
    std::string title = "layers of " + Printable(first.line) + ", from " + Printable(first.stage) +
                        " to " + Printable(last.stage);
    std::string text;
    llvm::raw_string_ostream story(text);
    WriteLayerStory(layers.OfGraph(graph), "", all, story);
    if (text.empty()) continue;
    auto same = llvm::find_if(
        told, [&](const auto& one) { return llvm::StringRef(one.first).ends_with(text); });
    if (same == told.end())
      told.emplace_back(title + text, 0);
    else
      ++same->second;
  }
  for (const auto& [text, others] : told) {
    auto [title, story] = llvm::StringRef(text).split('\n');
    os << title;
    if (others > 0) os << ", and the same in " << Plural(others, "more graph");
    os << "\n" << story;
  }
}

}  // namespace grapnel
