#include "lib/diff/dump_lines.h"

#include <algorithm>
#include <array>
#include <map>

#include "lib/diff/dump_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

// Gives a part of stage names its rank: ranks ascend in the order in which the runtime writes
// stages, from a function's first graph to the graphs that devices run. The first entry of kMoments
// whose part is in a stage's name determines the stage's rank.
struct Moment {
  llvm::StringLiteral part;
  int rank;
};
constexpr int kOfPartitions = 200;
constexpr std::array kMoments = {
    Moment{"before_partition_passes", 210},
    Moment{"before_opt_group_post_partitioning", 220},
    Moment{"after_opt_group_post_partitioning", 230},
    Moment{"after_partition_passes", 240},
    Moment{"EnsureMemoryTypes", 250},
    Moment{"initial", 0},
    Moment{"before_bridge", 10},
    Moment{"before_pre_placement", 20},
    Moment{"before_opt_group_pre_placement", 30},
    Moment{"isolate_deep_ops", 32},
    Moment{"encapsulate_xla_computations", 33},
    Moment{"forward_type_inference", 34},
    Moment{"after_opt_group_pre_placement_phase", 31},
    Moment{"after_opt_group_pre_placement", 40},
    Moment{"before_placer", 50},
    Moment{"placer", 52},
    Moment{"before_post_placement", 60},
    Moment{"before_opt_group_post_placement", 70},
    Moment{"after_opt_group_post_placement", 80},
    Moment{"before_graph_optimization", 90},
    Moment{"after_graph_optimization", 100},
    Moment{"before_post_rewrite", 110},
    Moment{"before_opt_group_post_rewrite", 120},
    Moment{"replicate_constants", 121},
    Moment{"encapsulate_subgraphs", 122},
    Moment{"build_xla_ops", 123},
    Moment{"after_opt_group_post_rewrite", 130},
    Moment{"after_post_rewrite", 140},
    Moment{"before_partition", 150},
    Moment{"partition_", kOfPartitions},
};

// A file name split into its parts: "before_X_ADDRESS_2" has base X, is from before the pass, and
// is repetition 2.
struct FileNameParts {
  llvm::StringRef base, address;
  int when = 1;  // 0: before, 1: neither, 2: after
  int turn = 0;
};

FileNameParts FileNamePartsOf(llvm::StringRef name) {
  FileNameParts parts;
  for (int i = 0; i < 2; ++i) {
    auto [head, last] = name.rsplit('_');
    if (!IsDigits(last) || head.empty()) break;
    if (last.size() >= 6 || last.getAsInteger(10, parts.turn)) parts.address = last;
    name = head;
  }
  struct Mark {
    llvm::StringLiteral text;
    int when;
  };
  for (const Mark& mark : {Mark{"before_", 0}, Mark{"after_", 2}}) {
    if (name.consume_front(mark.text)) parts.when = mark.when;
  }
  for (const Mark& mark : {Mark{"_before", 0}, Mark{"_input", 0}, Mark{"_halfway", 1},
                           Mark{"_after", 2}, Mark{"_output", 2}}) {
    if (name.consume_back(mark.text)) parts.when = mark.when;
  }
  parts.base = name;
  return parts;
}

// The smallest hashes of the node names of a graph. The number of hashes that two sketches share
// gives an estimate of how similar their graphs are.
using Sketch = std::vector<uint64_t>;
constexpr size_t kSketch = 128;

Sketch SketchOf(const Module& module) {
  Sketch sketch;
  for (Node node : module.main.nodes()) sketch.push_back(llvm::xxh3_64bits(node.name()));
  std::sort(sketch.begin(), sketch.end());
  sketch.erase(std::unique(sketch.begin(), sketch.end()), sketch.end());
  if (sketch.size() > kSketch) sketch.resize(kSketch);
  return sketch;
}

double SketchSimilarity(const Sketch& a, const Sketch& b) {
  size_t i = 0, j = 0, seen = 0, both = 0;
  while (seen < kSketch && (i < a.size() || j < b.size())) {
    ++seen;
    if (j == b.size() || (i < a.size() && a[i] < b[j])) {
      ++i;
    } else if (i == a.size() || b[j] < a[i]) {
      ++j;
    } else {
      ++both, ++i, ++j;
    }
  }
  return seen == 0 ? 0 : static_cast<double>(both) / static_cast<double>(seen);
}

class Joining {
 public:
  Joining(std::vector<DumpStage>& stages, llvm::ArrayRef<std::shared_ptr<const Module>> modules)
      : stages_(stages), modules_(modules) {}

  std::vector<size_t> Run() {
    std::vector<size_t> open;
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (!stages_[i].is_loose || stages_[i].is_in_log) order_.push_back(i);
      if (stages_[i].is_loose && modules_[i]) open.push_back(i);
      if (!stages_[i].is_loose) settled_.push_back(i);
    }
    has_partitions_ = llvm::any_of(settled_, [&](size_t i) { return IsOfPartitions(i); });
    for (size_t i : open) Join(i);
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (!llvm::is_contained(order_, i)) order_.push_back(i);
    }
    return order_;
  }

 private:
  static constexpr double kAlike = 0.5;

  bool IsOfPartitions(size_t i) const {
    return MomentOf(stages_[i].stage).value_or(0) >= kOfPartitions ||
           llvm::StringRef(stages_[i].line).contains("_partition_");
  }

  // True if the name of a loose stage (one whose graph the file name does not give) says that it
  // belongs to the line (the stages of one graph) of stage i.
  bool IsNamed(size_t i, const DumpStage& loose) const {
    const DumpStage& stage = stages_[i];
    if (stage.line == loose.line) return true;
    return !stage.is_loose && loose.turn > 0 &&
           loose.line == stage.line + " " + std::to_string(loose.turn);
  }

  // Returns how many loose stages with the name of this one have joined the line. If a name occurs
  // twice, the second usually belongs to another line (the stages of another graph).
  int Taken(const std::string& line, size_t loose) const {
    auto it = taken_.find({line, stages_[loose].stage});
    return it == taken_.end() ? 0 : it->second;
  }

  // Returns the stage whose line the loose stage joins. If the loose stage belongs to lines by its
  // name, that is the stage of these lines with the most similar graph; otherwise, the stage of any
  // line with the most similar graph. nullopt if no name fits and no graph is similar enough.
  std::optional<size_t> Nearest(size_t loose) {
    std::optional<size_t> best;
    std::tuple<bool, double, bool, int> best_score;
    for (size_t i : settled_) {
      if (has_partitions_ && IsOfPartitions(i) != IsOfPartitions(loose)) continue;
      bool is_named = IsNamed(i, stages_[loose]);
      double similarity = SketchSimilarity(SketchAt(i), SketchAt(loose));
      if (!is_named && similarity < kAlike) continue;
      std::tuple score(is_named, similarity, MomentOf(stages_[i].stage).has_value(),
                       -Taken(stages_[i].line, loose));
      bool is_before = stages_[loose].when == 0;
      if (best && (is_before ? score <= best_score : score < best_score)) continue;
      if (best && score == best_score && stages_[i].line != stages_[*best].line) continue;
      best = i;
      best_score = score;
    }
    return best;
  }

  void Join(size_t loose) {
    DumpStage& stage = stages_[loose];
    std::optional<size_t> nearest = Nearest(loose);
    if (nearest) {
      ++taken_[{stages_[*nearest].line, stage.stage}];
      stage.line = stages_[*nearest].line;
      stage.from_line = stages_[*nearest].from_line;
    }
    if (!stage.is_in_log) Insert(loose, nearest);
    settled_.push_back(loose);
  }

  // Inserts the loose stage into its line, at the place near `nearest` where the runtime would have
  // written it. A line may contain several runs of the graph; within each, the ranks ascend.
  void Insert(size_t loose, std::optional<size_t> nearest) {
    if (!nearest) return order_.push_back(loose);
    std::vector<size_t> line;  // the line's stages: indices in order_
    size_t at = 0;             // in `line`
    for (size_t i = 0; i < order_.size(); ++i) {
      if (stages_[order_[i]].line != stages_[loose].line) continue;
      if (order_[i] == *nearest) at = line.size();
      line.push_back(i);
    }
    auto rank = [&](size_t i) { return MomentOf(stages_[order_[line[i]]].stage).value_or(-1); };
    int own = MomentOf(stages_[loose].stage).value_or(rank(at));
    bool is_after = rank(at) <= own;
    if (is_after) {
      while (at + 1 < line.size() && rank(at + 1) >= rank(at) && rank(at + 1) <= own) ++at;
    } else {
      while (at > 0 && rank(at - 1) <= rank(at) && rank(at - 1) > own) --at;
    }
    order_.insert(order_.begin() + line[at] + (is_after ? 1 : 0), loose);
  }

  const Sketch& SketchAt(size_t stage) {
    const Module* module = modules_[stage].get();
    auto [sketch, is_new] = sketches_.try_emplace(module);
    if (is_new && module) sketch->second = SketchOf(*module);
    return sketch->second;
  }

  std::vector<DumpStage>& stages_;
  llvm::ArrayRef<std::shared_ptr<const Module>> modules_;  // by stage; equal dumps share one
  bool has_partitions_ = false;
  std::map<const Module*, Sketch> sketches_;
  std::vector<size_t> order_, settled_;
  std::map<std::pair<std::string, std::string>, int> taken_;  // by line and stage name
};

}  // namespace

std::optional<int> MomentOf(llvm::StringRef stage) {
  std::string name = stage.str();
  std::replace(name.begin(), name.end(), ' ', '_');
  for (const Moment& moment : kMoments) {
    if (llvm::StringRef(name).contains(moment.part)) return moment.rank;
  }
  return std::nullopt;
}

std::optional<DumpStage> LooseDump(llvm::StringRef file) {
  llvm::StringRef name = file;
  if (!name.consume_back(".pbtxt") && !name.consume_back(".pb")) return std::nullopt;
  FileNameParts parts = FileNamePartsOf(name);
  DumpStage stage{file.str(), parts.base.str(), "", "", true};
  stage.turn = parts.turn;
  stage.when = parts.when;
  llvm::StringRef tag = parts.base;
  // The placer's dumps have the graph's name directly before "placer".
  if (llvm::StringRef graph = parts.base; graph.consume_back("placer")) {
    stage.line = graph.empty() ? "graph" : graph.str();
    tag = "placer";
  }
  if (!parts.address.empty()) stage.line += "_" + parts.address.str();
  if (parts.turn > 0) stage.line += " " + std::to_string(parts.turn);
  constexpr std::array kWhen = {"before ", "", "after "};
  stage.stage = kWhen[parts.when] + tag.str();
  if (llvm::StringRef(name).contains("_halfway")) stage.stage = "halfway " + tag.str();
  return stage;
}

bool IsOfOneOp(llvm::StringRef line) { return line.starts_with("__wrapped__"); }

void SortLoose(std::vector<DumpStage>* stages) {
  llvm::stable_sort(*stages, [](const DumpStage& x, const DumpStage& y) {
    auto key = [](const DumpStage& stage) {
      return std::tuple(stage.turn, MomentOf(stage.stage).value_or(kOfPartitions),
                        !IsOfOneOp(stage.line), stage.line, stage.when);
    };
    return key(x) < key(y);
  });
}

std::vector<size_t> JoinLines(std::vector<DumpStage>* stages,
                              llvm::ArrayRef<std::shared_ptr<const Module>> modules) {
  return Joining(*stages, modules).Run();
}

}  // namespace grapnel
