#include "lib/diff/dump_order.h"

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>
#include <tuple>

#include "lib/diff/dump_lines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// As MetaOptimizer::InitializeOptimizers of TensorFlow 2.21 has them.
constexpr std::array kPasses = {"model_pruner",
                                "tfg_optimizer",
                                "implementation_selector",
                                "function_optimizer",
                                "common_subgraph_elimination",
                                "debug_stripper",
                                "constant_folding",
                                "shape_optimizer",
                                "auto_mixed_precision",
                                "pin_to_host_optimizer",
                                "arithmetic_optimizer",
                                "layout",
                                "remapper",
                                "loop_optimizer",
                                "dependency_optimizer",
                                "memory_optimizer",
                                "auto_parallel",
                                "scoped_allocator_optimizer"};

int RankOf(llvm::StringRef pass) {
  for (size_t i = 0; i < kPasses.size(); ++i) {
    if (pass.substr(0, llvm::StringRef(kPasses[i]).size()) == kPasses[i])
      return static_cast<int>(i);
  }
  return static_cast<int>(kPasses.size());
}

llvm::StringRef WithoutSuffix(llvm::StringRef file) {
  for (llvm::StringRef suffix : {".pbtxt", ".pb"}) {
    if (file.consume_back(suffix)) break;
  }
  return file;
}

bool IsNumber(llvm::StringRef text) { return !text.empty() && llvm::all_of(text, llvm::isDigit); }

// NAME.NNNN.GROUP.TAG
struct Numbered {
  std::string graph, tag, parent;  // parent: of a partition
  int number = 0, run = 0;
};

std::optional<Numbered> ParseNumbered(llvm::StringRef file) {
  auto [rest, tag] = WithoutSuffix(file).rsplit('.');
  auto [head, group] = rest.rsplit('.');
  auto [graph, number] = head.rsplit('.');
  Numbered out;
  if (graph.empty() || !IsNumber(number) || number.getAsInteger(10, out.number))
    return std::nullopt;
  out.graph = graph.str();
  out.tag = tag.str();
  size_t partition = graph.find("_partition_");
  if (partition != llvm::StringRef::npos) out.parent = graph.take_front(partition).str();
  return out;
}

// before_MetaOptimizer_iteration_I_ID_K, after_MetaOptimizer_iteration_I_PASS_ID_K,
// after_MetaOptimizer_ID_K: K counts files that would else have one name, and is left out when 0.
struct Meta {
  bool before = false;
  int iteration = INT_MAX;  // INT_MAX: the result of all
  std::string pass, id;
  int repeat = 0;
  int turn = 0, run = 0;  // which graph's turn it is; which call of Grappler
  int first_turn = 0;     // of the run: the main graph's
};

std::optional<Meta> ParseMeta(llvm::StringRef file) {
  llvm::StringRef rest = WithoutSuffix(file);
  Meta out;
  out.before = rest.consume_front("before_");
  if (!out.before && !rest.consume_front("after_")) return std::nullopt;
  if (!rest.consume_front("MetaOptimizer")) return std::nullopt;
  auto [head, last] = rest.rsplit('_');
  if (!IsNumber(last)) return std::nullopt;
  if (last.size() < 6) {
    if (last.getAsInteger(10, out.repeat)) return std::nullopt;
    std::tie(head, last) = head.rsplit('_');
  }
  if (!IsNumber(last)) return std::nullopt;
  out.id = last.str();
  if (!head.consume_front("_iteration_")) return head.empty() ? std::optional(out) : std::nullopt;
  auto [iteration, pass] = head.split('_');
  if (iteration.getAsInteger(10, out.iteration)) return std::nullopt;
  out.pass = pass.str();
  return out;
}

class MetaOrder {
 public:
  MetaOrder(llvm::ArrayRef<std::string> files,
            llvm::function_ref<bool(llvm::StringRef, llvm::StringRef)> same_content)
      : same_content_(same_content) {
    for (const std::string& file : files) {
      if (auto meta = ParseMeta(file)) metas_.push_back({file, *meta});
    }
    std::map<std::string, std::vector<size_t>> by_id;
    for (size_t i = 0; i < metas_.size(); ++i) by_id[metas_[i].second.id].push_back(i);
    for (const auto& [id, indices] : by_id) FindTurns(indices);
    llvm::stable_sort(metas_,
                      [](const auto& x, const auto& y) { return Key(x.second) < Key(y.second); });
  }

  const std::vector<std::pair<std::string, Meta>>& metas() const { return metas_; }

 private:
  static std::tuple<std::string, int, int, int, int, int> Key(const Meta& meta) {
    // Of one iteration: what was before, each pass, what came after.
    int phase = meta.before ? 0 : meta.pass.empty() ? 2 : 1;
    bool whole = meta.iteration == INT_MAX;
    return {meta.id,        meta.run, whole ? INT_MAX : meta.turn,
            meta.iteration, phase,    RankOf(meta.pass)};
  }

  // Functions of the library are optimised in turns of their own, which may have no pass's dump, so
  // the j-th dump of a pass need not be of the j-th turn.
  void FindTurns(llvm::ArrayRef<size_t> indices) {
    int turns = 0, chains = 0;
    for (size_t i : indices) {
      const Meta& meta = metas_[i].second;
      if (meta.before) turns = std::max(turns, meta.repeat + 1);
      if (!meta.pass.empty()) chains = std::max(chains, meta.repeat + 1);
    }
    std::vector<int> turn_of(chains);
    for (int chain = 0; chain < chains; ++chain) {
      int first = chain == 0 ? 0 : turn_of[chain - 1] + 1;
      turn_of[chain] = std::max(first, chain * turns / std::max(chains, 1));
      for (int turn = first; turn < turns; ++turn) {
        if (!EndsAlike(indices, chain, turn)) continue;
        turn_of[chain] = turn;
        break;
      }
    }
    for (size_t i : indices) {
      Meta& meta = metas_[i].second;
      meta.turn = meta.pass.empty() ? meta.repeat : turn_of[meta.repeat];
      auto after = std::upper_bound(turn_of.begin(), turn_of.end(), meta.turn);
      meta.run = std::max(0, static_cast<int>(after - turn_of.begin()) - 1);
      if (meta.iteration == INT_MAX) meta.run = meta.repeat;
      if (meta.run < chains) meta.first_turn = turn_of[meta.run];
    }
  }

  // Whether the last pass of the chain's first iteration left what this turn's iteration ended
  // with.
  bool EndsAlike(llvm::ArrayRef<size_t> indices, int chain, int turn) const {
    const std::string *last = nullptr, *end = nullptr;
    int rank = -1;
    for (size_t i : indices) {
      const auto& [file, meta] = metas_[i];
      if (meta.iteration != 0 || meta.before) continue;
      if (meta.pass.empty() && meta.repeat == turn) end = &file;
      if (!meta.pass.empty() && meta.repeat == chain && RankOf(meta.pass) > rank) {
        rank = RankOf(meta.pass);
        last = &file;
      }
    }
    return last && end && same_content_(*last, *end);
  }

  llvm::function_ref<bool(llvm::StringRef, llvm::StringRef)> same_content_;
  std::vector<std::pair<std::string, Meta>> metas_;
};

DumpStage StageOf(const std::string& file, const Meta& meta) {
  std::string run = "MetaOptimizer run " + std::to_string(meta.run) + ", ";
  DumpStage out = {file, run + "graph " + std::to_string(meta.turn), "", ""};
  if (meta.iteration == INT_MAX)
    return {file, run + "result", run + "graph " + std::to_string(meta.first_turn),
            "after MetaOptimizer"};
  std::string pass = meta.pass.substr(0, meta.pass.find('{'));
  out.stage = (meta.before ? "before" : "after") + (pass.empty() ? "" : " " + pass) +
              ", iteration " + std::to_string(meta.iteration);
  return out;
}

DumpStage StageOf(const std::string& file, const Numbered& dump) {
  std::string stage = dump.tag;
  for (llvm::StringRef when : {"before_", "after_"}) {
    if (llvm::StringRef(stage).substr(0, when.size()) == when)
      stage = when.drop_back().str() + " " + stage.substr(when.size());
  }
  return {file, dump.graph, dump.parent, stage};
}

std::vector<DumpStage> OrderNumbered(llvm::ArrayRef<std::string> files) {
  std::vector<std::pair<std::string, Numbered>> dumps;
  for (const std::string& file : files) {
    if (auto dump = ParseNumbered(file)) dumps.push_back({file, *dump});
  }
  llvm::stable_sort(dumps, [](const auto& x, const auto& y) {
    return std::tie(x.second.graph, x.second.number) < std::tie(y.second.graph, y.second.number);
  });
  std::map<std::string, std::map<std::string, int>> seen;  // graph -> tag -> times
  std::map<std::string, int> runs;
  for (auto& [file, dump] : dumps) {
    int& run = runs[dump.graph];
    run = std::max(run, seen[dump.graph][dump.tag]++);
    dump.run = run;
  }
  auto key = [](const Numbered& dump) {
    const std::string& story = dump.parent.empty() ? dump.graph : dump.parent;
    return std::tuple(!IsOfOneOp(story), story, dump.run, !dump.parent.empty(), dump.graph,
                      dump.number);
  };
  llvm::stable_sort(dumps,
                    [&](const auto& x, const auto& y) { return key(x.second) < key(y.second); });
  std::vector<DumpStage> out;
  out.reserve(dumps.size());
  for (const auto& [file, dump] : dumps) out.push_back(StageOf(file, dump));
  return out;
}

// File names in the order of a log's "Dumped Graph to" lines; the last time counts.
llvm::StringMap<int> PlacesInLog(llvm::StringRef log) {
  llvm::StringMap<int> places;
  llvm::SmallVector<llvm::StringRef> lines;
  log.split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines) {
    auto [head, path] = line.split("Dumped Graph to ");
    if (path.empty()) continue;
    path = path.trim();
    places[path.substr(path.rfind('/') + 1)] = static_cast<int>(places.size());
  }
  return places;
}

}  // namespace

std::vector<DumpStage> OrderDumps(
    llvm::ArrayRef<std::string> files, llvm::StringRef log,
    llvm::function_ref<bool(llvm::StringRef, llvm::StringRef)> same_content) {
  std::vector<DumpStage> stages = OrderNumbered(files);
  // Grappler's own dumps belong between two numbered ones, where there are such.
  std::vector<DumpStage> metas;
  MetaOrder order(files, same_content);
  for (const auto& [file, meta] : order.metas()) metas.push_back(StageOf(file, meta));
  auto at = llvm::find_if(
      stages, [](const DumpStage& stage) { return stage.stage == "before graph_optimization"; });
  stages.insert(at == stages.end() ? at : at + 1, metas.begin(), metas.end());
  std::vector<DumpStage> loose;
  for (const std::string& file : files) {
    if (ParseNumbered(file) || ParseMeta(file)) continue;
    if (std::optional<DumpStage> stage = LooseDump(file)) loose.push_back(std::move(*stage));
  }
  SortLoose(&loose);
  llvm::move(loose, std::back_inserter(stages));
  llvm::StringMap<int> places = PlacesInLog(log);
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

}  // namespace grapnel
