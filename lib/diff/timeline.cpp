#include "lib/diff/timeline.h"

#include <map>
#include <set>

#include "lib/io/open.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool SameBytes(llvm::StringRef a, llvm::StringRef b) {
  auto file_a = FileBytes::Open(a), file_b = FileBytes::Open(b);
  bool same = file_a && file_b && (*file_a)->bytes() == (*file_b)->bytes();
  if (!file_a) llvm::consumeError(file_a.takeError());
  if (!file_b) llvm::consumeError(file_b.takeError());
  return same;
}

void Count(TimelineStage* stage) {
  auto body = [&](const Graph& graph) {
    for (Node node : graph.nodes()) {
      ++stage->nodes;
      stage->edges += node.num_inputs() + node.num_controls();
    }
  };
  body(stage->module->main);
  for (const auto& function : stage->module->functions) body(function->body);
}

// What a stage says of a node that is called `name` in the stage before it. Empty when it is as it
// was; `name` becomes what it is called from here on, empty when it is no more.
std::string Event(const Diff& diff, std::string* name) {
  for (const MatchedPair& pair : diff.matched) {
    if (pair.a.name != *name) continue;
    std::string text;
    for (const Change& change : pair.changes) {
      text += text.empty() ? "changed: " : "; ";
      text += change.what + " " + (change.before.empty() ? "(none)" : change.before) + " -> " +
              (change.after.empty() ? "(none)" : change.after);
    }
    if (pair.b.name != *name) {
      text += (text.empty() ? "" : "; ") + ("now called " + pair.b.name);
      *name = pair.b.name;
    }
    return text;
  }
  for (const GroupEntry& group : diff.groups) {
    auto is_it = [&](const NodeEntry& node) { return node.name == *name; };
    if (llvm::none_of(group.a, is_it)) continue;
    std::string text = group.a.size() > 1 ? "fused with" : "split";
    for (const NodeEntry& node : group.a) {
      if (!is_it(node)) text += " " + node.name;
    }
    text += " into";
    for (const NodeEntry& node : group.b)
      text += " " + node.name + " (" + node.node.op().str() + ")";
    *name = group.b[0].name;
    return text;
  }
  *name = "";
  return "removed";
}

bool Has(const Module& module, llvm::StringRef name) {
  if (module.main.Find(name)) return true;
  auto [function, node] = name.split('/');
  const Function* body = module.FindFunction(function);
  return body && body->body.Find(node);
}

}  // namespace

Expected<Timeline> ReadTimeline(llvm::StringRef folder, llvm::StringRef log) {
  ASSIGN_OR_RETURN(std::vector<std::string> files, ListDirectory(folder));
  Timeline timeline;
  auto same = [&](llvm::StringRef a, llvm::StringRef b) {
    return SameBytes(JoinPath(folder, a), JoinPath(folder, b));
  };
  std::map<std::string, int> last;  // stage of each line
  for (DumpStage& dump : OrderDumps(files, log, same)) {
    TimelineStage stage;
    auto before = last.find(dump.line);
    if (before == last.end()) before = last.find(dump.from_line);
    if (before != last.end()) stage.before = before->second;
    const TimelineStage* previous = stage.before < 0 ? nullptr : &timeline.stages[stage.before];
    // Half of the dumps are the one before again, and reading constants as text takes longest.
    if (previous && same(previous->dump.file, dump.file)) {
      stage.module = previous->module;
    } else {
      auto module = OpenGraph(JoinPath(folder, dump.file));
      if (!module) {
        timeline.skipped.push_back(TextOf(module.takeError()));
        continue;
      }
      stage.module = std::move(*module);
      if (previous) stage.diff = DiffModules(*previous->module, *stage.module, {});
    }
    last[dump.line] = static_cast<int>(timeline.stages.size());
    stage.dump = std::move(dump);
    Count(&stage);
    timeline.stages.push_back(std::move(stage));
  }
  if (timeline.stages.empty())
    return MakeError(
        "{0}: no dump of a graph in it (NAME.NNNN.main.TAG.pbtxt, "
        "after_MetaOptimizer_*.pbtxt, also .pb)",
        folder);
  return timeline;
}

std::vector<std::string> NodesOfOp(const Timeline& timeline, llvm::StringRef op) {
  std::set<std::string> names;
  auto body = [&](const Graph& graph, const std::string& prefix) {
    for (Node node : graph.nodes()) {
      if (node.op() == op) names.insert(prefix + node.name().str());
    }
  };
  for (const TimelineStage& stage : timeline.stages) {
    if (stage.before >= 0) continue;
    body(stage.module->main, "");
    for (const auto& function : stage.module->functions)
      body(function->body, function->name().str() + "/");
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> LifeOf(const Timeline& timeline, llvm::StringRef node) {
  std::vector<std::string> lines;
  std::map<int, std::string> names;  // stage -> what the node is called there
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    const TimelineStage& stage = timeline.stages[i];
    std::string where = stage.dump.file + " (" + stage.dump.stage + "): ";
    auto known = names.find(stage.before);
    if (known == names.end()) {
      if (!Has(*stage.module, node)) continue;
      lines.push_back(where + (stage.before < 0 ? "is there" : "made"));
      names[static_cast<int>(i)] = node.str();
      continue;
    }
    std::string name = known->second, event;
    bool same = stage.module == timeline.stages[stage.before].module;
    if (!same) event = Event(stage.diff, &name);
    if (!event.empty()) lines.push_back(where + event);
    if (!name.empty()) names[static_cast<int>(i)] = name;
  }
  return lines;
}

}  // namespace grapnel
