#include "lib/serve/pages/stories.h"

#include <algorithm>
#include <utility>

#include "lib/library/function_name.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Follows `from` from the line of a graph (DumpStage::line) to the line of the graph that it was
// made from, and so on. Returns the last line: that of the original graph of a partition.
llvm::StringRef RootOf(llvm::StringRef line, const llvm::StringMap<std::string>& from) {
  llvm::StringSet<> seen;
  for (;;) {
    auto found = from.find(line);
    if (found == from.end() || found->second.empty() || !seen.insert(line).second) return line;
    if (!from.contains(found->second)) return line;
    line = found->second;
  }
}

const char* KindText(FunctionName::Kind kind) {
  switch (kind) {
    case FunctionName::Kind::kForward:
      return ", forward";
    case FunctionName::Kind::kBackward:
      return ", backward";
    default:
      return "";
  }
}

void NameStory(Story* story) {
  auto [graph, instance] = llvm::StringRef(story->line).split(", instance ");
  FunctionName name = ParseFunctionName(graph);
  if (graph.starts_with("MetaOptimizer run ")) {  // OrderDumps's name for an unnamed graph
    story->function = "runs of Grappler on graphs without a name";
    story->title = graph.str();
  } else if (name.kind == FunctionName::Kind::kEagerOp) {
    story->function = "ops that ran eagerly";
    story->title = name.base;
  } else {
    story->function = name.base.empty() ? graph.str() : name.base;
    story->title = story->function;
    if (name.number) story->title += " " + std::to_string(*name.number);
    story->title += KindText(name.kind);
  }
  if (!instance.empty()) story->title += ", instance " + instance.str();
}

}  // namespace

std::vector<Story> StoriesOf(const Timeline& timeline) {
  llvm::StringMap<std::string> from;
  for (const TimelineStage& stage : timeline.stages)
    from.try_emplace(stage.dump.line, stage.dump.from_line);
  std::vector<Story> stories;
  llvm::StringMap<size_t> numbers;
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    const TimelineStage& stage = timeline.stages[i];
    llvm::StringRef root = RootOf(stage.dump.line, from);
    auto [at, is_new] = numbers.try_emplace(root, stories.size());
    if (is_new) {
      stories.emplace_back();
      stories.back().line = root.str();
      NameStory(&stories.back());
    }
    Story& story = stories[at->second];
    story.stages.push_back(static_cast<int>(i));
    story.nodes = std::max(story.nodes, static_cast<int64_t>(stage.nodes));
    story.changed += stage.before >= 0 && !stage.diff.Same();
  }
  return stories;
}

size_t LargestStory(llvm::ArrayRef<Story> stories) {
  auto size = [&](size_t i) { return std::pair(stories[i].nodes, stories[i].changed); };
  size_t largest = 0;
  for (size_t i = 1; i < stories.size(); ++i) {
    if (size(i) > size(largest)) largest = i;
  }
  return largest;
}

}  // namespace grapnel
