#include "lib/job/placement_history.h"

#include "lib/diff/dump_order.h"
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
bool IsGrapplers(const DumpStage& stage) {
  return llvm::StringRef(stage.file).contains("_MetaOptimizer_");
}
bool BeginsTurn(const DumpStage& stage) {
  return HasPrefix(stage.file, "before_MetaOptimizer_iteration_0_");
}

// What a partition is of.
llvm::StringRef WholeOf(llvm::StringRef line) { return line.split("_partition_").first; }

// Who made what a stage has: "after constant_folding, iteration 0" was constant_folding.
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

// "NAME" and NNNN of NAME.NNNN.GROUP.TAG.pbtxt; -1: it is another name.
std::pair<std::string, int> NumberedDump(llvm::StringRef file) {
  if (!file.consume_back(".pbtxt")) file.consume_back(".pb");
  auto [name, digits] = file.rsplit('.').first.rsplit('.').first.rsplit('.');
  int number = -1;
  if (digits.getAsInteger(10, number)) return {"", -1};
  return {name.str(), number};
}

using Names = llvm::StringSet<>;

Names NamesOf(const Graph& graph) {
  Names names;
  for (Node node : graph.nodes()) names.insert(node.name());
  return names;
}

bool IsSame(const Names& names, const Graph& graph) {
  if (names.size() != graph.num_nodes()) return false;
  for (Node node : graph.nodes()) {
    if (!names.contains(node.name())) return false;
  }
  return true;
}

bool HasSameOps(const Graph& a, const Graph& b) {
  if (a.num_nodes() != b.num_nodes()) return false;
  for (Node node : a.nodes()) {
    Node other = b.Find(node.name());
    if (!other || other.op() != node.op()) return false;
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
    ASSIGN_OR_RETURN(std::vector<std::string> entries, ListDirectory(path_));
    llvm::erase_if(entries, [](const std::string& name) { return !IsDump(name); });
    auto same = [&](llvm::StringRef a, llvm::StringRef b) { return HasSameBytes(a, b); };
    stages_ = OrderDumps(entries, "", same);
    auto mine = llvm::find_if(stages_, [&](const DumpStage& each) { return each.file == file_; });
    if (mine == stages_.end()) return Foreign();
    end_ = mine - stages_.begin();
    if (mine->is_loose) return std::move(story_);
    if (IsGrapplers(*mine)) {
      WalkTurn(BeginOfTurn(end_), end_);
      Step(opened_.module().main, PassOf(mine->stage));
    } else {
      WalkLine(*mine);
    }
    story_.source = "the dumps in " + path_;
    return std::move(story_);
  }

 private:
  bool HasSameBytes(llvm::StringRef a, llvm::StringRef b) const {
    auto x = FileBytes::Open(JoinPath(path_, a)), y = FileBytes::Open(JoinPath(path_, b));
    bool is_same = x && y && (*x)->bytes() == (*y)->bytes();
    llvm::consumeError(x.takeError());
    llvm::consumeError(y.takeError());
    return is_same;
  }

  // The graph is not in the folder under its own name: a function's of that name may be.
  Expected<GraphStory> Foreign() {
    std::string name = GraphNameOf(opened_);
    for (const DumpStage& stage : stages_) {
      if (stage.is_loose || IsGrapplers(stage)) continue;
      if (stage.line == name || stage.line == "__inference_" + name) line_ = stage.line;
    }
    if (line_.empty())
      return MakeError(
          "{0}: has no dump of '{1}': expected one like {1}.0005.main.before_placer.pbtxt", path_,
          name);
    end_ = stages_.size();
    DumpStage last;
    last.line = line_;
    last.stage = "after graph_optimization";
    WalkLine(last);
    story_.source = "the dumps in " + path_;
    return std::move(story_);
  }

  std::unique_ptr<OpenedGraph> Open(const DumpStage& stage) const {
    auto opened = OpenedGraph::Open(JoinPath(path_, stage.file));
    if (opened) return std::make_unique<OpenedGraph>(std::move(*opened));
    llvm::consumeError(opened.takeError());
    return nullptr;
  }

  void Step(const Graph& graph, const std::string& pass) {
    if (before_) AddChanges(before_->module().main, graph, pass, &story_);
  }

  void Take(const DumpStage& stage, std::unique_ptr<OpenedGraph> next) {
    const Graph& graph = next->module().main;
    // What was made before placement is in the log.
    if (before_ && !IsPlaced(before_->module().main) && IsPlaced(graph)) story_.here.clear();
    Step(graph, PassOf(stage.stage));
    if (!IsPlaced(graph)) {
      for (Node node : graph.nodes()) {
        if (!node.device().empty()) story_.asked.try_emplace(node.name(), node.device().str());
      }
    }
    before_ = std::move(next);
  }

  // The graph's own dumps up to its own; where Grappler ran between two, what it dumped.
  void WalkLine(const DumpStage& last) {
    std::vector<const DumpStage*> mine;
    for (const DumpStage& stage : stages_) {
      bool is_before = stage.line == last.line || stage.line == WholeOf(last.line);
      if (!is_before || IsGrapplers(stage) || stage.is_loose) continue;
      // The function was made again under its name.
      if (!mine.empty() && stage.stage == mine.front()->stage && stage.line == mine.front()->line)
        mine.clear();
      mine.push_back(&stage);
      if (stage.file == file_) break;
    }
    for (const DumpStage* stage : mine) {
      std::unique_ptr<OpenedGraph> next = stage->file == file_ ? nullptr : Open(*stage);
      if (stage->stage == "after graph_optimization" && before_)
        WalkRun(next ? next->module().main : opened_.module().main);
      if (next) Take(*stage, std::move(next));
    }
    Step(opened_.module().main, PassOf(last.stage));
  }

  // Where the turn of Grappler began that the graph is of.
  size_t BeginOfTurn(size_t end) const {
    for (size_t i = end + 1; i-- > 0;) {
      if (!BeginsTurn(stages_[i])) continue;
      std::unique_ptr<OpenedGraph> first = Open(stages_[i]);
      if (!first) continue;
      size_t known = 0;
      for (Node node : opened_.module().main.nodes())
        known += static_cast<bool>(first->module().main.Find(node.name()));
      if (known * 2 >= opened_.module().main.num_nodes()) return i;
    }
    return end;
  }

  // The turn of Grappler that began with the graph as it is now; of several, as traces with the
  // same nodes have, the one that left what the graph is after it.
  void WalkRun(const Graph& after) {
    Names names = NamesOf(before_->module().main);
    std::optional<size_t> best;
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (!BeginsTurn(stages_[i])) continue;
      std::unique_ptr<OpenedGraph> first = Open(stages_[i]);
      if (!first || !IsSame(names, first->module().main)) continue;
      if (!best) best = i;
      std::unique_ptr<OpenedGraph> last = Open(stages_[EndOfTurn(i) - 1]);
      if (!last || !HasSameOps(last->module().main, after)) continue;
      best = i;
      break;
    }
    if (best) WalkTurn(*best, stages_.size());
  }

  size_t EndOfTurn(size_t begin) const {
    size_t end = begin + 1;
    while (end < stages_.size() && IsGrapplers(stages_[end]) && !BeginsTurn(stages_[end])) ++end;
    return end;
  }

  void WalkTurn(size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, EndOfTurn(begin)); ++i) {
      if (std::unique_ptr<OpenedGraph> next = Open(stages_[i])) Take(stages_[i], std::move(next));
    }
  }

  std::string path_;
  const OpenedGraph& opened_;
  std::string file_, line_;
  size_t end_ = 0;  // the graph's own place
  std::vector<DumpStage> stages_;
  std::unique_ptr<OpenedGraph> before_;
  GraphStory story_;
};

constexpr size_t kMostTwins = 1000;  // dumps that are read to find those with the same nodes

// The dump that the placer read, of a function each time that it was placed.
struct PlacerInput {
  std::string path, name;
  int number = -1;
  llvm::sys::TimePoint<> time;
};

// When dumps were written, if their times tell; else by their numbers.
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
    PlacerInput input{
        JoinPath(folder, file), NumberedDump(file).first, NumberedDump(file).second, {}};
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
  return NumberedDump(llvm::sys::path::filename(opened.model().path)).second;
}

// Of the functions beside a dump that had the same nodes when they were placed: which one this is
// in the order in which they were, and how many there are.
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
  target.placed = NamesOf(own->module().main);
  FindTurn(inputs, *mine, &target);
  return target;
}

std::string GraphNameOf(const OpenedGraph& opened) {
  std::string file = llvm::sys::path::filename(opened.model().path).str();
  auto never = [](llvm::StringRef, llvm::StringRef) { return false; };
  std::vector<DumpStage> stages = OrderDumps({file}, "", never);
  bool is_numbered = stages.size() == 1 && !stages[0].is_loose && !IsGrapplers(stages[0]);
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
