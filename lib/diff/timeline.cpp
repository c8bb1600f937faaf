#include "lib/diff/timeline.h"

#include <algorithm>
#include <map>

#include "lib/diff/body_view.h"
#include "lib/diff/dump_lines.h"
#include "lib/diff/fates.h"
#include "lib/diff/stage_names.h"
#include "lib/io/open.h"
#include "lib/support/denormals.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

void CountNodesAndEdges(TimelineStage* stage) {
  auto body = [&](const Graph& graph, size_t* nodes, size_t* edges) {
    for (Node node : graph.nodes()) {
      ++*nodes;
      *edges += node.num_inputs() + node.num_controls();
    }
  };
  body(stage->module->main, &stage->nodes, &stage->edges);
  for (const auto& function : stage->module->functions)
    body(function->body, &stage->library_nodes, &stage->library_edges);
}

// How a stage changed a node (empty: not at all), and the node's names in that stage (empty: it is
// gone).
struct Event {
  std::string text;
  std::vector<std::string> names;
};

std::string ChangesText(const MatchedPair& pair) {
  std::string text;
  for (const Change& change : pair.changes) {
    if (change.what == "op") {
      llvm::StringRef how = change.after == "Const" ? "folded to a constant" : "rewritten";
      text = llvm::formatv("{0} ({1} -> {2}){3}", how, change.before, change.after, text);
      continue;
    }
    text += text.empty() ? "changed: " : "; ";
    text += change.what + " " + (change.before.empty() ? "(none)" : change.before) + " -> " +
            (change.after.empty() ? "(none)" : change.after);
  }
  return text;
}

std::string FusionText(const GroupEntry& group, llvm::StringRef name) {
  std::string text = group.a.size() > 1 ? "fused with" : "split";
  for (const NodeEntry& node : group.a)
    if (node.name != name) text += (" " + node.name).str();
  text += " into";
  for (const NodeEntry& node : group.b)
    text += (" " + node.name + " (" + node.node.op() + ")").str();
  return text;
}

// Returns the changes of the node that `counted` lists, except new private attributes ("marked
// _XlaFoo"), which a pass gives to most nodes.
std::string CountedText(const Diff& diff, const std::string& name) {
  std::string text;
  for (const CountedChange& counted : diff.counted) {
    if (llvm::StringRef(counted.what).starts_with("marked ") ||
        !std::binary_search(counted.nodes.begin(), counted.nodes.end(), name))
      continue;
    text += (text.empty() ? "" : "; ") + counted.what;
  }
  return text;
}

Event GoneText(const NodeOutcome& fate) {
  switch (fate.kind) {
    case NodeOutcome::kMerged:
    case NodeOutcome::kReplaced:
      return {OutcomeText(fate), {fate.into}};
    case NodeOutcome::kPruned:
      return {"removed: nothing reads it", {}};
    default:
      return {"removed: " + OutcomeText(fate), {}};
  }
}

Event EventOf(const Diff& diff, const std::string& name) {
  Event event;
  for (const OpenedCall& call : diff.opened) {
    for (const auto& [node, copy] : call.nodes) {
      if (node != name) continue;
      event.text += (event.text.empty() ? "inlined as " : ", ") + copy;
      event.names.push_back(copy);
    }
    if (call.call == name)
      return {"inlined: " + Plural(call.nodes.size(), "node") + " of " + call.function +
                  " stand in its place",
              {name}};
  }
  if (!event.names.empty()) return event;
  for (const MatchedPair& pair : diff.matched) {
    if (pair.a.name != name) continue;
    event = {ChangesText(pair), {pair.b.name.str()}};
    if (pair.b.name != name)
      event.text += (event.text.empty() ? "" : "; ") + ("now called " + pair.b.name).str();
    std::string counted = CountedText(diff, event.names[0]);
    event.text += (event.text.empty() || counted.empty() ? "" : "; ") + counted;
    return event;
  }
  for (const GroupEntry& group : diff.groups) {
    if (llvm::any_of(group.a, [&](const NodeEntry& node) { return node.name == name; }))
      return {FusionText(group, name), {group.b[0].name.str()}};
  }
  for (size_t i = 0; i < diff.removed.size(); ++i) {
    if (diff.removed[i].name == name)
      return i < diff.fates.size() ? GoneText(diff.fates[i]) : Event{"removed", {}};
  }
  return {"removed: its function is gone", {}};
}

// Returns how a node that the previous stage did not have came into the graph.
std::string OriginText(const TimelineStage& stage, llvm::StringRef node) {
  if (stage.before < 0) return "is there";
  for (const OpenedCall& call : stage.diff.opened) {
    for (const auto& [original, copy] : call.nodes)
      if (copy == node) return "inlined from " + original;
  }
  return "made";
}

bool Has(const Module& module, llvm::StringRef name) {
  if (module.main.Find(name)) return true;
  auto [function, node] = name.split('/');
  const Function* body = module.FindFunction(function);
  return body && body->body.Find(node);
}

// A file and its graph. Many dumps are byte for byte equal to another one: equal files share one
// module.
struct OpenedFile {
  DumpContent content;
  std::shared_ptr<const Module> module;  // null: unreadable
  std::string problem;                   // why it cannot be read
};

uint64_t HashOfNames(const Graph& graph, bool with_ends) {
  uint64_t sum = 1;
  for (Node node : graph.nodes()) {
    bool is_end = node.op() == "_Arg" || node.op() == "_Retval";
    if (with_ends || !is_end) sum += HashText(node.name());
  }
  return sum;
}

void Open(const std::string& path, OpenedFile* file) {
  auto module = OpenGraph(path);
  if (!module) {
    file->problem = TextOf(module.takeError());
    return;
  }
  file->module = std::move(*module);
  file->content.names = HashOfNames(file->module->main, /*with_ends=*/true);
  file->content.body = HashOfNames(file->module->main, /*with_ends=*/false);
  for (const auto& function : file->module->functions)
    file->content.functions.push_back(
        {function->name().str(), HashOfNames(function->body, /*with_ends=*/false)});
}

// Calls `work` for 0 to `count` - 1, several at a time; each takes at least some milliseconds.
void ForEach(ThreadPool& pool, size_t count, llvm::function_ref<void(size_t)> work) {
  constexpr double kCost = 1e7;  // nanoseconds
  pool.ParallelFor(static_cast<int64_t>(count), kCost, [&](int64_t begin, int64_t end) {
    KeepDenormals keep;
    for (int64_t i = begin; i < end; ++i) work(i);
  });
}

// Returns hashes that are equal only for files with equal bytes; 0 for one that cannot be opened.
// Reads only files that may be equal: of one size, and not links to one file.
std::vector<uint64_t> HashFiles(llvm::StringRef folder, llvm::ArrayRef<std::string> files,
                                ThreadPool& pool) {
  std::map<uint64_t, std::map<std::pair<uint64_t, uint64_t>, std::vector<size_t>>> by_size;
  std::vector<uint64_t> hashes(files.size(), 0);
  std::vector<llvm::ArrayRef<size_t>> linked;  // files to read, each with all links to it
  for (size_t i = 0; i < files.size(); ++i) {
    llvm::sys::fs::file_status status;
    if (llvm::sys::fs::status(JoinPath(folder, files[i]), status)) continue;
    llvm::sys::fs::UniqueID id = status.getUniqueID();
    by_size[status.getSize()][{id.getDevice(), id.getFile()}].push_back(i);
  }
  for (const auto& [size, of_size] : by_size) {
    for (const auto& [id, links] : of_size) {
      if (of_size.size() > 1) linked.push_back(links);
      for (size_t i : links) hashes[i] = HashInto(id.first, id.second);
    }
  }
  ForEach(pool, linked.size(), [&](size_t i) {
    uint64_t hash = 0;
    if (auto bytes = FileBytes::Open(JoinPath(folder, files[linked[i].front()])))
      hash = HashText((*bytes)->bytes());
    else
      llvm::consumeError(bytes.takeError());
    for (size_t link : linked[i]) hashes[link] = hash;
  });
  return hashes;
}

std::vector<OpenedFile> OpenFiles(llvm::StringRef folder, llvm::ArrayRef<std::string> files,
                                  ThreadPool& pool) {
  std::vector<OpenedFile> opened(files.size());
  std::vector<uint64_t> hashes = HashFiles(folder, files, pool);
  for (size_t i = 0; i < files.size(); ++i) opened[i].content.bytes = hashes[i];
  std::map<uint64_t, size_t> first;  // the first file with the same bytes
  for (size_t i = 0; i < files.size(); ++i) first.try_emplace(opened[i].content.bytes, i);
  auto source = [&](size_t i) {
    uint64_t bytes = opened[i].content.bytes;
    return bytes == 0 ? i : first.find(bytes)->second;
  };
  std::vector<size_t> sources;
  for (size_t i = 0; i < files.size(); ++i)
    if (source(i) == i) sources.push_back(i);
  ForEach(pool, sources.size(),
          [&](size_t i) { Open(JoinPath(folder, files[sources[i]]), &opened[sources[i]]); });
  for (size_t i = 0; i < files.size(); ++i) {
    if (source(i) == i) continue;
    opened[i] = opened[source(i)];
    // Opens each unreadable file again, because the text of the error names the file.
    if (!opened[i].module) Open(JoinPath(folder, files[i]), &opened[i]);
  }
  return opened;
}

bool IsEmpty(llvm::StringRef path) {
  auto file = FileBytes::Open(path);
  if (file) return (*file)->bytes().empty();
  llvm::consumeError(file.takeError());
  return false;
}

constexpr const char* kWhyEmpty =
    "TensorFlow is still writing the graphs, or TF_DUMP_GRAPH_FMT is neither TXT nor BIN";

Error NoDump(llvm::StringRef folder, llvm::ArrayRef<OrderedDump> dumps) {
  size_t empty = llvm::count_if(
      dumps, [&](const OrderedDump& each) { return IsEmpty(JoinPath(folder, each.dump.file)); });
  if (empty > 0) {
    return MakeError("{0}: {1} without content: {2}", folder, Plural(empty, "dump"), kWhyEmpty);
  }
  return MakeError("{0}: no dump of a graph in it (files .pbtxt or .pb with a GraphDef)", folder);
}

// Adds the problems found while reading a dump: the first one, and how many more there are.
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

TimelineStage Uncompared(DumpStage dump, std::shared_ptr<const Module> module, int before) {
  TimelineStage stage;
  stage.dump = std::move(dump);
  stage.module = std::move(module);
  stage.before = before;
  CountNodesAndEdges(&stage);
  return stage;
}

bool NeedsDiff(const Timeline& timeline, const TimelineStage& stage) {
  return stage.before >= 0 && timeline.stages[stage.before].module != stage.module;
}

Diff DiffOf(const Timeline& timeline, const TimelineStage& stage, bool side_by_side) {
  return DiffModules(*timeline.stages[stage.before].module, *stage.module,
                     {.by_name = true, .side_by_side = side_by_side});
}

// Compares each stage with the one before, several stages at a time.
void CompareStages(ThreadPool& pool, Timeline* timeline) {
  std::vector<TimelineStage*> stages;
  for (TimelineStage& stage : timeline->stages)
    if (NeedsDiff(*timeline, stage)) stages.push_back(&stage);
  bool side_by_side = pool.num_threads() > 1 && stages.size() == 1;
  ForEach(pool, stages.size(),
          [&](size_t i) { stages[i]->diff = DiffOf(*timeline, *stages[i], side_by_side); });
}

}  // namespace

void AddStage(DumpStage dump, std::shared_ptr<const Module> module, int before,
              Timeline* timeline) {
  TimelineStage stage = Uncompared(std::move(dump), std::move(module), before);
  if (NeedsDiff(*timeline, stage)) stage.diff = DiffOf(*timeline, stage, /*side_by_side=*/true);
  timeline->stages.push_back(std::move(stage));
}

Expected<std::vector<OrderedDump>> ReadDumps(llvm::StringRef folder, llvm::StringRef log,
                                             ThreadPool& pool) {
  ASSIGN_OR_RETURN(std::vector<std::string> graphs, ListDirectory(folder));
  llvm::erase_if(graphs, [](const std::string& file) { return !LooseDump(file); });
  std::vector<OpenedFile> opened = OpenFiles(folder, graphs, pool);
  llvm::StringMap<const OpenedFile*> by_name;
  for (size_t i = 0; i < graphs.size(); ++i) by_name[graphs[i]] = &opened[i];
  auto content = [&](llvm::StringRef file) -> const DumpContent& {
    return by_name.find(file)->second->content;
  };
  std::vector<DumpStage> stages = OrderDumps(graphs, log, content);
  std::vector<std::shared_ptr<const Module>> modules;
  modules.reserve(stages.size());
  for (const DumpStage& stage : stages) modules.push_back(by_name[stage.file]->module);
  // JoinLines also finds the graph of each dump whose file name does not name it.
  std::vector<OrderedDump> dumps;
  for (size_t i : JoinLines(&stages, modules)) {
    const OpenedFile& file = *by_name[stages[i].file];
    dumps.push_back({std::move(stages[i]), file.module, file.problem});
  }
  return dumps;
}

Expected<Timeline> ReadTimeline(llvm::StringRef folder, llvm::StringRef log, ThreadPool& pool,
                                llvm::StringRef function) {
  ASSIGN_OR_RETURN(std::vector<OrderedDump> dumps, ReadDumps(folder, log, pool));
  if (!function.empty()) {
    ASSIGN_OR_RETURN(std::vector<size_t> story, StageNames(dumps, folder).StoryOf(function));
    std::vector<OrderedDump> of_function;
    of_function.reserve(story.size());
    for (size_t i : story) of_function.push_back(std::move(dumps[i]));
    dumps = std::move(of_function);
  }
  Timeline timeline;
  std::map<std::string, int> last;  // index of the last stage of each line
  for (OrderedDump& opened : dumps) {
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
    timeline.stages.push_back(Uncompared(std::move(opened.dump), opened.module, previous));
  }
  if (timeline.stages.empty()) return NoDump(folder, dumps);
  CompareStages(pool, &timeline);
  return timeline;
}

std::vector<LifeEvent> LifeOf(const Timeline& timeline, llvm::StringRef node) {
  std::vector<LifeEvent> life;
  std::map<int, std::vector<std::string>> names;  // by stage: the node's names in that stage
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    const TimelineStage& stage = timeline.stages[i];
    int number = static_cast<int>(i);
    auto known = names.find(stage.before);
    if (known == names.end()) {
      if (!Has(*stage.module, node)) continue;
      life.push_back({number, OriginText(stage, node)});
      names[number] = {node.str()};
      continue;
    }
    if (stage.module == timeline.stages[stage.before].module) {
      names[number] = known->second;
      continue;
    }
    std::vector<std::string> next;
    for (const std::string& name : known->second) {
      Event event = EventOf(stage.diff, name);
      std::string of = name == node ? "" : name + ": ";
      if (!event.text.empty()) life.push_back({number, of + event.text});
      llvm::append_range(next, event.names);
    }
    if (!next.empty()) names[number] = std::move(next);
  }
  return life;
}

}  // namespace grapnel
