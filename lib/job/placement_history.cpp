#include "lib/job/placement_history.h"

#include "lib/diff/dump_names.h"
#include "lib/diff/dump_order.h"
#include "lib/diff/timeline.h"
#include "lib/job/stage_changes.h"
#include "lib/pass/run_record.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

bool IsDump(llvm::StringRef file) { return HasSuffix(file, ".pbtxt") || HasSuffix(file, ".pb"); }
// Returns the name of the graph from the name of a partition.
llvm::StringRef WholeOf(llvm::StringRef line) { return line.split("_partition_").first; }

// Returns the pass that made a stage: constant_folding for "after constant_folding, iteration 0".
std::string PassOf(llvm::StringRef stage) {
  stage = stage.split(',').first;
  if (stage == "before") return "Grappler";
  if (stage == "after graph_optimization" || stage == "after MetaOptimizer" || stage == "after" ||
      stage == "before post_rewrite_for_exec_passes")
    return "Grappler";
  if (stage == "before post_placement_passes" || stage == "after placer") return "the placer";
  if (stage == "before placer") return "the passes before the placer";
  if (stage == "before graph_optimization") return "the passes after the placer";
  if (stage == "before partition_passes") return "partitioning";
  if (stage.consume_front("after opt_group_")) return "the passes of " + stage.str();
  if (stage.consume_front("after ") || stage.consume_front("before ")) return stage.str();
  return stage.str();
}

using NodeNames = llvm::StringSet<>;

NodeNames NodeNamesOf(const Graph& graph) {
  NodeNames names;
  for (Node node : graph.nodes()) names.insert(node.name());
  return names;
}

bool IsSame(const NodeNames& names, const Graph& graph) {
  if (names.size() != graph.num_nodes()) return false;
  for (Node node : graph.nodes()) {
    if (!names.contains(node.name())) return false;
  }
  return true;
}

// The stages of one graph in a folder.
class Folder {
 public:
  Folder(std::string path, const OpenedGraph& opened)
      : path_(std::move(path)),
        opened_(opened),
        file_(llvm::sys::path::filename(opened.model().path).str()) {}

  Expected<GraphStory> Run() {
    ThreadPool pool(1);
    ASSIGN_OR_RETURN(dumps_, ReadDumps(path_, "", pool));
    auto mine =
        llvm::find_if(dumps_, [&](const OrderedDump& each) { return each.dump.file == file_; });
    if (mine == dumps_.end()) return Foreign();
    if (mine->dump.is_loose) return std::move(story_);
    Walk(mine->dump.line, mine->dump.from_line);
    story_.source = "the dumps in " + path_;
    return std::move(story_);
  }

 private:
  // For a graph whose file is not in the folder: uses the dumps of a function with the graph's
  // name.
  Expected<GraphStory> Foreign() {
    std::string name = GraphNameOf(opened_), line;
    for (const OrderedDump& each : dumps_) {
      if (each.dump.is_loose) continue;
      if (each.dump.line == name || each.dump.line == "__inference_" + name) line = each.dump.line;
    }
    if (line.empty())
      return MakeError(
          "{0}: has no dump of '{1}': expected one like {1}.0005.main.before_placer.pbtxt", path_,
          name);
    Walk(line, "");
    Step(opened_.module(), "Grappler");
    story_.source = "the dumps in " + path_;
    return std::move(story_);
  }

  void Step(const Module& module, const std::string& pass) {
    if (before_) AddChanges(*before_, module, pass, &story_);
  }

  void Take(const OrderedDump& next) {
    const Graph& graph = next.module->main;
    // When the graph has been placed, forgets where its nodes came from: all nodes created before
    // placement are in the log and need no explanation.
    if (before_ && !IsPlaced(before_->main) && IsPlaced(graph)) story_.here.clear();
    Step(*next.module, PassOf(next.dump.stage));
    if (!IsPlaced(graph)) {
      for (Node node : graph.nodes()) {
        if (!node.device().empty()) story_.asked.try_emplace(node.name(), node.device().str());
      }
    }
    before_ = next.module.get();
  }

  // Visits the stages of a line (the dumps of one graph) and of the line that it came from, in
  // order, up to the graph's own dump.
  void Walk(const std::string& line, const std::string& from_line) {
    for (const OrderedDump& each : dumps_) {
      bool is_of_it = each.dump.line == line || (!from_line.empty() && each.dump.line == from_line);
      if (!is_of_it || each.dump.is_loose || !each.module) continue;
      Take(each);
      if (each.dump.file == file_) return;
    }
  }

  std::string path_;
  const OpenedGraph& opened_;
  std::string file_;
  std::vector<OrderedDump> dumps_;
  const Module* before_ = nullptr;
  GraphStory story_;
};

constexpr size_t kMostTwins = 1000;  // most dumps to read when looking for the same nodes

// The dump of a graph just before it was placed.
struct PlacerInput {
  std::string path, name;
  int number = -1;
  llvm::sys::TimePoint<> time;
};

// Sorts by the time when the dumps were written if the times are distinct and agree with the dumps'
// numbers, else by number.
void SortByTime(std::vector<PlacerInput>* inputs) {
  auto by_number = [](const PlacerInput& a, const PlacerInput& b) {
    auto number_of = [](const PlacerInput& input) {
      int number = 0;
      return llvm::StringRef(input.name).rsplit('_').second.getAsInteger(10, number) ? 0 : number;
    };
    return std::tuple(number_of(a), a.name, a.number) < std::tuple(number_of(b), b.name, b.number);
  };
  llvm::sort(*inputs, by_number);
  std::vector<PlacerInput> by_time = *inputs;
  llvm::stable_sort(by_time, [](const auto& a, const auto& b) { return a.time < b.time; });
  bool tells = true;
  for (size_t i = 1; i < by_time.size(); ++i) {
    tells &= by_time[i - 1].time < by_time[i].time;
    tells &= by_time[i - 1].name != by_time[i].name || by_time[i - 1].number < by_time[i].number;
  }
  if (tells) *inputs = std::move(by_time);
}

std::vector<PlacerInput> PlacerInputsIn(const std::string& folder) {
  std::vector<PlacerInput> inputs;
  auto entries = ListDirectory(folder);
  if (!entries) {
    llvm::consumeError(entries.takeError());
    return inputs;
  }
  for (const std::string& file : *entries) {
    if (!IsDump(file) || !llvm::StringRef(file).contains(".before_placer.")) continue;
    std::optional<NumberedName> name = ParseNumberedName(file);
    if (!name) continue;
    PlacerInput input{JoinPath(folder, file), name->graph, name->number, {}};
    llvm::sys::fs::file_status status;
    if (!llvm::sys::fs::status(input.path, status)) input.time = status.getLastModificationTime();
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Expected<GraphStory> FromLedger(llvm::StringRef path, const Graph& graph) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  auto rewrites = ParseLedger(file->bytes());
  if (!rewrites) return Annotate(path, rewrites.takeError());
  GraphStory story;
  story.source = ("the ledger " + path).str();
  for (const Rewrite& rewrite : *rewrites) {
    if (rewrite.pass == "placer" || !rewrite.function.empty()) continue;
    std::string by = " by " + rewrite.pass + "/" + rewrite.rule;
    auto now = [&](const std::string& name) { return graph.Find(name); };
    for (const std::string& name : rewrite.made) story.here[name] = {rewrite.pass, "made" + by};
    for (const std::string& name : rewrite.changed) {
      if (Node node = now(name); node && (!story.here.count(name) || rewrite.node == name))
        story.here[name] = {rewrite.pass, node.op() == "Const"
                                              ? "folded to a constant" + by
                                              : "rewritten to " + node.op().str() + by};
    }
    for (const std::string& name : rewrite.removed) {
      std::string into;
      for (const std::string& each : rewrite.made)
        into += (into.empty() ? " into '" : "', '") + each;
      story.gone[name] = {rewrite.pass, "removed" + by + (into.empty() ? "" : into + "'")};
    }
  }
  return std::move(story);
}

}  // namespace

int DumpNumberOf(const OpenedGraph& opened) {
  std::optional<NumberedName> name =
      ParseNumberedName(llvm::sys::path::filename(opened.model().path));
  return name ? name->number : -1;
}

// Sets `turns` to the number of graphs in the dump folder that had the same nodes as the target
// when they were placed, and `turn` to the target's position among them.
void FindTurn(llvm::ArrayRef<PlacerInput> inputs, const PlacerInput& mine, LogTarget* target) {
  if (inputs.size() > kMostTwins) return;
  for (const PlacerInput& input : inputs) {
    auto other = OpenedGraph::Open(input.path);
    if (&input == &mine) target->turn = target->turns;
    target->turns += other && IsSame(target->placed, other->module().main);
    llvm::consumeError(other.takeError());
  }
}

LogTarget TargetOf(const OpenedGraph& opened, const Graph& graph) {
  LogTarget target{&graph, GraphNameOf(opened), DumpNumberOf(opened)};
  std::string folder = llvm::sys::path::parent_path(opened.model().path).str();
  std::vector<PlacerInput> inputs = PlacerInputsIn(folder.empty() ? "." : folder);
  const PlacerInput* mine = nullptr;
  SortByTime(&inputs);
  for (const PlacerInput& input : inputs) {
    bool is_before = input.name == target.name && input.number <= target.dump;
    if (is_before && (!mine || input.number > mine->number)) mine = &input;
  }
  auto own = mine ? OpenedGraph::Open(mine->path) : MakeError("no dump");
  if (!own) {
    llvm::consumeError(own.takeError());
    return target;
  }
  target.placed = NodeNamesOf(own->module().main);
  FindTurn(inputs, *mine, &target);
  return target;
}

std::string GraphNameOf(const OpenedGraph& opened) {
  std::string file = llvm::sys::path::filename(opened.model().path).str();
  DumpContent unknown;
  auto content = [&](llvm::StringRef) -> const DumpContent& { return unknown; };
  std::vector<DumpStage> stages = OrderDumps({file}, "", content);
  bool is_numbered = stages.size() == 1 && !stages[0].is_loose && !IsMetaDump(file);
  if (is_numbered) return WholeOf(stages[0].line).str();
  return opened.name();
}

Expected<GraphStory> StoryOf(const OpenedGraph& opened, llvm::StringRef source) {
  if (!source.empty() && !IsDirectory(source)) return FromLedger(source, opened.module().main);
  if (!source.empty()) return Folder(source.str(), opened).Run();
  std::string folder = llvm::sys::path::parent_path(opened.model().path).str();
  if (folder.empty()) folder = ".";
  if (!FileExists(opened.model().path) || IsDirectory(opened.model().path)) return GraphStory();
  auto story = Folder(folder, opened).Run();
  if (story) return std::move(*story);
  llvm::consumeError(story.takeError());
  return GraphStory();
}

}  // namespace grapnel
