#include "lib/diff/timeline.h"

#include <map>
#include <set>

#include "lib/diff/dump_lines.h"
#include "lib/io/open.h"
#include "lib/support/text.h"
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
      text += (text.empty() ? "" : "; ") + ("now called " + pair.b.name).str();
      *name = pair.b.name.str();
    }
    return text;
  }
  for (const GroupEntry& group : diff.groups) {
    auto is_it = [&](const NodeEntry& node) { return node.name == *name; };
    if (llvm::none_of(group.a, is_it)) continue;
    std::string text = group.a.size() > 1 ? "fused with" : "split";
    for (const NodeEntry& node : group.a) {
      if (!is_it(node)) text += (" " + node.name).str();
    }
    text += " into";
    for (const NodeEntry& node : group.b)
      text += (" " + node.name + " (" + node.node.op() + ")").str();
    *name = group.b[0].name.str();
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

struct OpenedDump {
  DumpStage dump;
  size_t source = 0;                     // the dump whose file is read: itself, or one of its bytes
  std::shared_ptr<const Module> module;  // null: it cannot be read
  std::string problem;                   // and why
};

// Those whose names do not say so get the lines that they are of.
std::vector<OpenedDump> InLines(std::vector<OpenedDump> dumps) {
  std::vector<DumpStage> stages;
  std::vector<std::shared_ptr<const Module>> modules;
  for (OpenedDump& opened : dumps) {
    stages.push_back(std::move(opened.dump));
    modules.push_back(opened.module);
  }
  std::vector<OpenedDump> ordered;
  for (size_t i : JoinLines(&stages, modules)) {
    dumps[i].dump = std::move(stages[i]);
    ordered.push_back(std::move(dumps[i]));
  }
  return ordered;
}

// Half of the dumps are the one before again: each is read once, and those side by side.
std::vector<OpenedDump> OpenDumps(llvm::StringRef folder, llvm::ArrayRef<std::string> files,
                                  llvm::StringRef log, ThreadPool& pool) {
  auto same = [&](llvm::StringRef a, llvm::StringRef b) {
    return SameBytes(JoinPath(folder, a), JoinPath(folder, b));
  };
  std::vector<OpenedDump> dumps;
  std::map<std::string, size_t> last;  // dump of each line
  for (DumpStage& dump : OrderDumps(files, log, same)) {
    OpenedDump opened{std::move(dump), dumps.size(), nullptr, ""};
    auto before = last.find(opened.dump.line);
    if (before == last.end()) before = last.find(opened.dump.from_line);
    if (before != last.end() && same(dumps[before->second].dump.file, opened.dump.file))
      opened.source = dumps[before->second].source;
    last[opened.dump.line] = dumps.size();
    dumps.push_back(std::move(opened));
  }
  constexpr double kNanosecondsAFile = 1e7;
  pool.ParallelFor(dumps.size(), kNanosecondsAFile, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (dumps[i].source != static_cast<size_t>(i)) continue;
      auto module = OpenGraph(JoinPath(folder, dumps[i].dump.file));
      if (module) {
        dumps[i].module = std::move(*module);
      } else {
        dumps[i].problem = TextOf(module.takeError());
      }
    }
  });
  for (OpenedDump& opened : dumps) {
    opened.module = dumps[opened.source].module;
    opened.problem = dumps[opened.source].problem;
  }
  return InLines(std::move(dumps));
}

bool IsEmpty(llvm::StringRef path) {
  auto file = FileBytes::Open(path);
  if (file) return (*file)->bytes().empty();
  llvm::consumeError(file.takeError());
  return false;
}

constexpr const char* kWhyEmpty =
    "TensorFlow writes empty files when TF_DUMP_GRAPH_FMT is neither TXT nor BIN";

Error NoDump(llvm::StringRef folder, llvm::ArrayRef<std::string> files) {
  size_t empty = llvm::count_if(files, [&](const std::string& file) {
    return LooseDump(file) && IsEmpty(JoinPath(folder, file));
  });
  if (empty > 0) {
    return MakeError("{0}: {1} of a graph, empty: {2}", folder, Plural(empty, "dump"), kWhyEmpty);
  }
  return MakeError("{0}: no dump of a graph in it (files .pbtxt or .pb with a GraphDef)", folder);
}

// What reading found wrong, the first of each file with a count.
void AddProblems(const DumpStage& dump, const Module& module, Timeline* timeline) {
  size_t errors = llvm::count_if(
      module.problems, [](const Problem& problem) { return problem.severity == Severity::kError; });
  if (errors == 0) return;
  for (const Problem& problem : module.problems) {
    if (problem.severity != Severity::kError) continue;
    std::string more = errors > 1 ? " (and " + std::to_string(errors - 1) + " more)" : "";
    timeline->problems.push_back(dump.file + ": " + problem.ToString() + more);
    return;
  }
}

}  // namespace

void AddStage(DumpStage dump, std::shared_ptr<const Module> module, int before,
              Timeline* timeline) {
  TimelineStage stage;
  stage.dump = std::move(dump);
  stage.module = std::move(module);
  stage.before = before;
  const TimelineStage* previous = before < 0 ? nullptr : &timeline->stages[before];
  if (previous && previous->module != stage.module)
    stage.diff = DiffModules(*previous->module, *stage.module, {});
  Count(&stage);
  timeline->stages.push_back(std::move(stage));
}

Expected<Timeline> ReadTimeline(llvm::StringRef folder, llvm::StringRef log, ThreadPool& pool) {
  ASSIGN_OR_RETURN(std::vector<std::string> files, ListDirectory(folder));
  Timeline timeline;
  std::vector<OpenedDump> dumps = OpenDumps(folder, files, log, pool);
  std::map<std::string, int> last;  // stage of each line
  for (OpenedDump& opened : dumps) {
    if (!opened.module) {
      bool is_empty = IsEmpty(JoinPath(folder, opened.dump.file));
      timeline.skipped.push_back(is_empty ? opened.dump.file + ": empty: " + kWhyEmpty
                                          : opened.problem);
      continue;
    }
    AddProblems(opened.dump, *opened.module, &timeline);
    auto before = last.find(opened.dump.line);
    if (before == last.end()) before = last.find(opened.dump.from_line);
    int previous = before == last.end() ? -1 : before->second;
    last[opened.dump.line] = static_cast<int>(timeline.stages.size());
    AddStage(std::move(opened.dump), opened.module, previous, &timeline);
  }
  if (timeline.stages.empty()) return NoDump(folder, files);
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
