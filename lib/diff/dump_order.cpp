#include "lib/diff/dump_order.h"

#include <climits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "lib/diff/dump_lines.h"
#include "lib/diff/dump_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

struct Numbered : NumberedName {
  int instance = 0;
};

std::string StageText(llvm::StringRef tag) {
  for (llvm::StringRef when : {"before", "after"}) {
    if (tag.starts_with((when + "_").str()))
      return (when + " " + tag.substr(when.size() + 1)).str();
  }
  return tag.str();
}

std::string LineOf(const std::string& graph, int instance) {
  return instance == 0 ? graph : graph + ", instance " + std::to_string(instance + 1);
}

// Separates the dumps of a function that TensorFlow instantiated several times: it numbers the
// dumps of all instances in one sequence, and may write those of several instances at a time.
class Instances {
 public:
  // Returns the first instance that can have this stage: an instance has each stage once, and the
  // runtime writes its stages in order.
  int Of(llvm::StringRef tag) {
    std::optional<int> moment = MomentOf(tag);
    if (!moment) return instances_.empty() ? 0 : static_cast<int>(instances_.size()) - 1;
    for (size_t i = 0; i < instances_.size(); ++i) {
      if (instances_[i].moment > *moment || !instances_[i].tags.insert(tag.str()).second) continue;
      instances_[i].moment = *moment;
      return static_cast<int>(i);
    }
    instances_.push_back({*moment, {tag.str()}});
    return static_cast<int>(instances_.size()) - 1;
  }

 private:
  struct Instance {
    int moment;
    std::set<std::string> tags;
  };
  std::vector<Instance> instances_;
};

// Returns the number at the end of a function's name, which counts traced functions; 0 if there is
// none.
int64_t NumberOf(llvm::StringRef graph) {
  int64_t number = 0;
  auto [head, last] = graph.rsplit('_');
  return IsDigits(last) && !last.getAsInteger(10, number) ? number : 0;
}

std::vector<DumpStage> OrderNumbered(llvm::ArrayRef<std::string> files) {
  std::vector<std::pair<std::string, Numbered>> dumps;
  for (const std::string& file : files) {
    if (auto dump = ParseNumberedName(file)) dumps.push_back({file, {*dump}});
  }
  llvm::stable_sort(dumps, [](const auto& x, const auto& y) {
    return std::tie(x.second.graph, x.second.number) < std::tie(y.second.graph, y.second.number);
  });
  std::map<std::string, Instances> instances;
  for (auto& [file, dump] : dumps) dump.instance = instances[dump.graph].Of(dump.tag);
  auto key = [](const Numbered& dump) {
    const std::string& story = dump.parent.empty() ? dump.graph : dump.parent;
    return std::tuple(!IsOfOneOp(story), NumberOf(story), story, dump.instance,
                      !dump.parent.empty(), dump.graph, dump.number);
  };
  llvm::stable_sort(dumps,
                    [&](const auto& x, const auto& y) { return key(x.second) < key(y.second); });
  std::vector<DumpStage> out;
  out.reserve(dumps.size());
  for (const auto& [file, dump] : dumps) {
    std::string from = dump.parent.empty() ? "" : LineOf(dump.parent, dump.instance);
    out.push_back({file, LineOf(dump.graph, dump.instance), from, StageText(dump.tag)});
  }
  return out;
}

// Maps the files in a log's "Dumped Graph to" lines to their order; if a file occurs twice, its
// last line counts.
llvm::StringMap<int> PlacesInLog(llvm::StringRef log) {
  llvm::StringMap<int> places;
  int next = 0;
  llvm::SmallVector<llvm::StringRef> lines;
  log.split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines) {
    auto [head, path] = line.split("Dumped Graph to ");
    if (path.empty()) continue;
    path = path.trim();
    places[path.substr(path.rfind('/') + 1)] = next++;
  }
  return places;
}

// Inserts the dumps of each run of MetaOptimizer into the line (the stages of one graph) that the
// run belongs to.
class RunPlaces {
 public:
  RunPlaces(std::vector<DumpStage> stages, ContentOf content, const llvm::StringMap<int>& log)
      : stages_(std::move(stages)), content_(content), log_(log) {}

  std::vector<DumpStage> Place(llvm::ArrayRef<MetaRun> runs) {
    std::vector<const MetaRun*> of_functions, without_start;
    for (const MetaRun& run : runs) {
      if (std::optional<size_t> start = StartOf(run)) {
        taken_.insert(stages_[*start].file);
        Insert(*start + 1, run, stages_[*start].line);
      } else {
        without_start.push_back(&run);
      }
    }
    for (const MetaRun* run : without_start) {
      if (!run->has_result && HasLibrary(runs, *run))
        of_functions.push_back(run);
      else if (std::optional<size_t> end = EndOf(*run))
        Insert(*end, *run, stages_[*end].line);
      else
        PlaceAlone(*run);
    }
    for (const MetaRun* run : of_functions) PlaceOfFunction(*run);
    return std::move(stages_);
  }

 private:
  int PlaceInLog(const std::string& file) const {
    auto it = log_.find(file);
    return it == log_.end() ? -1 : it->second;
  }

  // Returns the stage before_graph_optimization that the run started from. If several stages have
  // the same graph, prefers those with equal bytes, then takes the last one that the log mentions
  // before the run; without a log, the first one that no other run started from.
  std::optional<size_t> StartOf(const MetaRun& run) const {
    const DumpContent& first = content_(run.first());
    int place = PlaceInLog(run.first());
    std::optional<size_t> best;
    std::tuple<bool, int> best_score;  // whether the bytes are equal; place in the log
    for (size_t i = 0; i < stages_.size(); ++i) {
      const DumpStage& stage = stages_[i];
      if (stage.stage != "before graph_optimization" || taken_.contains(stage.file)) continue;
      const DumpContent& start = content_(stage.file);
      if (start.names == 0 || start.names != first.names) continue;
      int own = PlaceInLog(stage.file);
      if (place >= 0 && own > place) continue;
      std::tuple score(start.bytes == first.bytes, own);
      if (best && score <= best_score) continue;
      best = i;
      best_score = score;
    }
    return best;
  }

  // Returns the stage after_graph_optimization that is the result of a run whose first dumps are
  // missing.
  std::optional<size_t> EndOf(const MetaRun& run) const {
    uint64_t result = content_(run.last()).names;
    for (size_t i = 0; i < stages_.size(); ++i) {
      const DumpStage& stage = stages_[i];
      if (stage.stage == "after graph_optimization" && !lines_.contains(stage.line) &&
          result != 0 && content_(stage.file).names == result)
        return i;
    }
    return std::nullopt;
  }

  std::string FunctionOf(const std::string& file, const MetaRun& run) const {
    uint64_t body = content_(run.first()).body;
    for (const auto& [name, of_function] : content_(file).functions)
      if (of_function == body && body != 0) return name;
    return "";
  }

  bool HasLibrary(llvm::ArrayRef<MetaRun> runs, const MetaRun& run) const {
    return llvm::any_of(runs, [&](const MetaRun& other) {
      return other.has_result && !FunctionOf(other.first(), run).empty();
    });
  }

  // Inserts the dumps of a run that optimized a library function among those of the run whose graph
  // contains the function, before those of the final module pass.
  void PlaceOfFunction(const MetaRun& run) {
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (!IsMetaDump(stages_[i].file)) continue;
      std::string function = FunctionOf(stages_[i].file, run);
      std::string line = stages_[i].line + ": " + function;
      if (function.empty() || !functions_.insert(line).second) continue;
      const std::string& of_run = stages_[i].line;
      while (i < stages_.size() && stages_[i].line == of_run && IsMetaDump(stages_[i].file) &&
             !llvm::StringRef(stages_[i].stage).starts_with("before final"))
        ++i;
      return Insert(i, run, line);
    }
    PlaceAlone(run);
  }

  // Inserts a run that belongs to no other line as a line of its own. In TF1 the first dump of a
  // session may come after Grappler: a line whose first graph is the result of this run then gets
  // the run as its `from_line`.
  void PlaceAlone(const MetaRun& run) {
    std::string line = "MetaOptimizer run " + std::to_string(num_alone_++);
    uint64_t result = content_(run.last()).names;
    std::set<std::string> lines;
    auto goes_on = llvm::find_if(stages_, [&](const DumpStage& stage) {
      bool begins = lines.insert(stage.line).second && !IsMetaDump(stage.file);
      return begins && run.has_result && result != 0 && stage.from_line.empty() &&
             content_(stage.file).names == result;
    });
    std::string next = goes_on == stages_.end() ? "" : goes_on->line;
    for (DumpStage& stage : stages_)
      if (stage.line == next && stage.from_line.empty()) stage.from_line = line;
    Insert(goes_on - stages_.begin(), run, line);
  }

  // Inserts the run's stages at index `at`, as stages of `line`, which may be a string in stages_.
  void Insert(size_t at, const MetaRun& run, const std::string& line) {
    std::vector<DumpStage> of_run;
    for (const auto& [file, stage] : run.stages) of_run.push_back({file, line, "", stage});
    lines_.insert(line);
    stages_.insert(stages_.begin() + at, of_run.begin(), of_run.end());
  }

  std::vector<DumpStage> stages_;
  ContentOf content_;
  const llvm::StringMap<int>& log_;
  std::set<std::string> taken_;      // files of before_graph_optimization that have a run
  std::set<std::string> lines_;      // lines that have a run
  std::set<std::string> functions_;  // lines of function runs
  int num_alone_ = 0;
};

}  // namespace

std::optional<NumberedName> ParseNumberedName(llvm::StringRef file) {
  auto [rest, tag] = WithoutGraphSuffix(file).rsplit('.');
  auto [head, group] = rest.rsplit('.');
  auto [graph, number] = head.rsplit('.');
  NumberedName out;
  if (graph.empty() || !IsDigits(number) || number.getAsInteger(10, out.number))
    return std::nullopt;
  out.graph = graph.str();
  out.tag = tag.str();
  size_t partition = graph.find("_partition_");
  if (partition != llvm::StringRef::npos) out.parent = graph.take_front(partition).str();
  return out;
}

std::vector<DumpStage> OrderDumps(llvm::ArrayRef<std::string> files, llvm::StringRef log,
                                  ContentOf content) {
  llvm::StringMap<int> places = PlacesInLog(log);
  std::vector<DumpStage> stages =
      RunPlaces(OrderNumbered(files), content, places).Place(MetaRunsOf(files, content));
  std::vector<DumpStage> loose;
  for (const std::string& file : files) {
    if (ParseNumberedName(file) || IsMetaDump(file)) continue;
    if (std::optional<DumpStage> stage = LooseDump(file)) loose.push_back(std::move(*stage));
  }
  SortLoose(&loose);
  llvm::move(loose, std::back_inserter(stages));
  if (!places.empty()) {
    for (DumpStage& stage : stages) stage.is_in_log = places.contains(stage.file);
    auto place = [&](const DumpStage& stage) {
      auto it = places.find(stage.file);
      return it == places.end() ? INT_MAX : it->second;
    };
    llvm::stable_sort(stages,
                      [&](const DumpStage& x, const DumpStage& y) { return place(x) < place(y); });
  }
  return stages;
}

bool AreStagesOfOneRun(llvm::StringRef path_a, const Module& a, llvm::StringRef path_b,
                       const Module& b) {
  namespace path = llvm::sys::path;
  if (path::parent_path(path_a) != path::parent_path(path_b)) return false;
  llvm::StringRef file_a = path::filename(path_a), file_b = path::filename(path_b);
  std::optional<NumberedName> numbered_a = ParseNumberedName(file_a),
                              numbered_b = ParseNumberedName(file_b);
  auto graph = [](const NumberedName& dump) {
    return dump.parent.empty() ? dump.graph : dump.parent;
  };
  if (numbered_a && numbered_b) return graph(*numbered_a) == graph(*numbered_b);
  if ((!numbered_a && !IsMetaDump(file_a)) || (!numbered_b && !IsMetaDump(file_b))) return false;
  size_t both = 0;
  for (Node node : a.main.nodes()) both += static_cast<bool>(b.main.Find(node.name()));
  return 2 * both >= std::min(a.main.num_nodes(), b.main.num_nodes());
}

}  // namespace grapnel
