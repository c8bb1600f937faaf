#include "lib/diff/timeline_layers.h"

#include "lib/diff/named_nodes.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr size_t kMostGraphs = 4;

}  // namespace

const LayerNames& TimelineLayers::NamesAt(int begin) {
  auto found = names_.find(begin);
  if (found == names_.end())
    found = names_.emplace(begin, LayerNames(LayersOf(*timeline_.stages[begin].module))).first;
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

std::vector<TimelineLayers::Whole> TimelineLayers::OfGraphs(size_t most) {
  std::map<int, int> last;  // the last stage of the graph with which a trace begins
  for (size_t i = 0; i < timeline_.stages.size(); ++i) {
    int begin = BeginOf(timeline_, static_cast<int>(i));
    bool is_same_graph = timeline_.stages[i].dump.line == timeline_.stages[begin].dump.line;
    if (is_same_graph) last[begin] = static_cast<int>(i);
  }
  std::vector<Whole> wholes;
  for (const auto& [begin, end] : last) {
    if (begin == end || wholes.size() == most) continue;
    const TimelineStage &first = timeline_.stages[begin], &now = timeline_.stages[end];
    Whole whole{begin, end, {}};
    if (now.before == begin) {
      whole.story = StoryFrom(begin, first, now);
    } else {
      Timeline ends;
      AddStage(first.dump, first.module, -1, &ends);
      AddStage(now.dump, now.module, 0, &ends);
      whole.story = StoryFrom(begin, ends.stages[0], ends.stages[1]);
    }
    if (!whole.story.events.empty()) wholes.push_back(std::move(whole));
  }
  return wholes;
}

void WriteTimelineLayers(const Timeline& timeline, bool all, llvm::raw_ostream& os) {
  size_t most = all ? timeline.stages.size() : kMostGraphs + 1;
  std::vector<TimelineLayers::Whole> wholes = TimelineLayers(timeline).OfGraphs(most);
  for (size_t i = 0; i < wholes.size(); ++i) {
    if (i == kMostGraphs && !all) {
      os << "layers of more graphs: --all\n\n";
      break;
    }
    const DumpStage& first = timeline.stages[wholes[i].first].dump;
    const DumpStage& last = timeline.stages[wholes[i].last].dump;
    WriteLayerStory(wholes[i].story,
                    "layers of " + Printable(first.line) + ", " + Printable(first.stage) + " to " +
                        Printable(last.stage),
                    all, os);
  }
}

}  // namespace grapnel
