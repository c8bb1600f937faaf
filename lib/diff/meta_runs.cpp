#include "lib/diff/meta_runs.h"

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>
#include <tuple>

#include "lib/diff/dump_names.h"
#include "llvm/ADT/STLExtras.h"

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
    if (pass.starts_with(kPasses[i])) return static_cast<int>(i);
  }
  return static_cast<int>(kPasses.size());
}

constexpr int kResult = INT_MAX;

// before_MetaOptimizer_iteration_I_ADDRESS_K, after_MetaOptimizer_iteration_I_PASS_ADDRESS_K,
// after_MetaOptimizer_ADDRESS_K. K is left out when it is 0.
struct Meta {
  std::string file;
  bool before = false;
  int iteration = kResult;
  std::string pass, address;
  int repeat = 0;
};

std::optional<Meta> ParseMeta(llvm::StringRef file) {
  llvm::StringRef rest = WithoutGraphSuffix(file);
  Meta out;
  out.file = file.str();
  out.before = rest.consume_front("before_");
  if (!out.before && !rest.consume_front("after_")) return std::nullopt;
  if (!rest.consume_front("MetaOptimizer")) return std::nullopt;
  auto [head, last] = rest.rsplit('_');
  if (!IsDigits(last)) return std::nullopt;
  if (last.size() < 6) {
    if (last.getAsInteger(10, out.repeat)) return std::nullopt;
    std::tie(head, last) = head.rsplit('_');
  }
  if (!IsDigits(last)) return std::nullopt;
  out.address = last.str();
  if (!head.consume_front("_iteration_")) return head.empty() ? std::optional(out) : std::nullopt;
  auto [iteration, pass] = head.split('_');
  if (iteration.getAsInteger(10, out.iteration)) return std::nullopt;
  out.pass = pass.str();
  return out;
}

// One iteration over one graph.
struct Iteration {
  const Meta *before = nullptr, *after = nullptr;
  std::vector<const Meta*> passes;
};

// The iterations over one graph. A run has one of its passes, and one of the final module pass.
struct Turn {
  std::map<int, Iteration> iterations;

  const Meta* First() const { return iterations.begin()->second.before; }
  const Meta* Last() const { return iterations.rbegin()->second.after; }
  bool HasPasses() const {
    return llvm::any_of(iterations, [](const auto& one) { return !one.second.passes.empty(); });
  }
};

// The dumps of one address.
class Address {
 public:
  Address(std::vector<Meta> metas, ContentOf content)
      : metas_(std::move(metas)), content_(content) {
    llvm::stable_sort(metas_, [](const Meta& x, const Meta& y) {
      return std::tuple(x.iteration, x.repeat, RankOf(x.pass)) <
             std::tuple(y.iteration, y.repeat, RankOf(y.pass));
    });
    FindTurns();
    FindChains();
  }

  std::vector<MetaRun> Runs() const {
    std::vector<const Meta*> results;
    for (const Meta& meta : metas_)
      if (meta.iteration == kResult) results.push_back(&meta);
    std::vector<MetaRun> runs;
    std::vector<std::vector<const Turn*>> groups = Groups(results.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      MetaRun run;
      for (const Turn* turn : groups[i]) AddStages(*turn, turn != groups[i].front(), &run);
      if (i < results.size()) run.stages.push_back({results[i]->file, "after MetaOptimizer"});
      run.has_result = i < results.size();
      if (!run.stages.empty()) runs.push_back(std::move(run));
    }
    for (size_t i = groups.size(); i < results.size(); ++i)
      runs.push_back({{{results[i]->file, "after MetaOptimizer"}}, true});
    return runs;
  }

 private:
  bool SameNames(const Meta* a, const Meta* b) const {
    if (!a || !b) return false;
    uint64_t names = content_(a->file).names;
    return names != 0 && names == content_(b->file).names;
  }
  bool SameBytes(const Meta* a, const Meta* b) const {
    if (!a || !b) return false;
    uint64_t bytes = content_(a->file).bytes;
    return bytes != 0 && bytes == content_(b->file).bytes;
  }

  // Each turn begins with iteration 0. A later iteration is of the first turn that ended the one
  // before with what it starts from; not every turn has one.
  void FindTurns() {
    std::map<std::pair<int, int>, size_t> begun;  // by iteration and repeat: the turn
    std::map<int, size_t> next;                   // by iteration: the first turn that may have it
    auto turn = [&](size_t at) -> Turn& {
      if (at >= turns_.size()) turns_.resize(at + 1);
      return turns_[at];
    };
    for (const Meta& meta : metas_) {
      if (!meta.before) continue;
      size_t at = meta.iteration == 0 ? turns_.size() : TurnOf(meta, next[meta.iteration]);
      turn(at).iterations[meta.iteration].before = &meta;
      next[meta.iteration] = at + 1;
      begun[{meta.iteration, meta.repeat}] = at;
    }
    for (const Meta& meta : metas_) {
      if (meta.iteration == kResult || !meta.pass.empty() || meta.before) continue;
      auto it = begun.find({meta.iteration, meta.repeat});
      turn(it == begun.end() ? turns_.size() : it->second).iterations[meta.iteration].after = &meta;
    }
  }

  const Meta* EndOf(int iteration, int repeat) const {
    for (const Meta& meta : metas_) {
      if (meta.iteration == iteration && meta.repeat == repeat && meta.pass.empty() && !meta.before)
        return &meta;
    }
    return nullptr;
  }

  size_t TurnOf(const Meta& before, size_t first) const {
    for (size_t i = first; i < turns_.size(); ++i) {
      auto it = turns_[i].iterations.find(before.iteration - 1);
      if (it == turns_[i].iterations.end() || !it->second.before) continue;
      const Meta* end = EndOf(before.iteration - 1, it->second.before->repeat);
      if (SameBytes(end, &before) || SameNames(end, &before)) return i;
    }
    return std::min(first, turns_.size());
  }

  // The k-th dumps of the passes of an iteration need not be of the k-th turn: the final module
  // pass writes none. Most often as many turns lie between two chains.
  void FindChains() {
    using Chain = std::vector<const Meta*>;
    std::map<int, std::map<int, Chain>> chains;  // by iteration and repeat
    for (const Meta& meta : metas_) {
      if (!meta.pass.empty()) chains[meta.iteration][meta.repeat].push_back(&meta);
    }
    for (const auto& [iteration, of_iteration] : chains) {
      size_t next = 0, i = 0;
      for (const auto& [repeat, passes] : of_iteration) {
        size_t guess = std::max(next, i++ * turns_.size() / of_iteration.size());
        size_t at = TurnThatEndsWith(*passes.back(), next, guess);
        if (at >= turns_.size()) turns_.resize(at + 1);
        turns_[at].iterations[iteration].passes = passes;
        next = at + 1;
      }
    }
  }

  // The turn whose iteration ends with what this last pass left: the guess, else the first from
  // `first` on, else the guess all the same.
  size_t TurnThatEndsWith(const Meta& pass, size_t first, size_t guess) const {
    auto ends_so = [&](size_t turn) {
      auto it = turns_[turn].iterations.find(pass.iteration);
      return it != turns_[turn].iterations.end() && SameBytes(&pass, it->second.after);
    };
    if (guess < turns_.size() && ends_so(guess)) return guess;
    for (size_t turn = first; turn < turns_.size(); ++turn)
      if (ends_so(turn)) return turn;
    return guess;
  }

  // A turn without passes that starts from what the one before ended with is the same run's.
  std::vector<std::vector<const Turn*>> Groups(size_t num_results) const {
    std::vector<std::vector<const Turn*>> groups;
    for (const Turn& turn : turns_) {
      if (turn.iterations.empty()) continue;
      bool goes_on = num_results > 0 && !groups.empty() && !turn.HasPasses() &&
                     groups.back().size() == 1 && SameNames(groups.back()[0]->Last(), turn.First());
      if (!goes_on) groups.emplace_back();
      groups.back().push_back(&turn);
    }
    return groups;
  }

  static void AddStages(const Turn& turn, bool is_final, MetaRun* run) {
    std::string of_what = is_final ? " final tfg_optimizer" : "";
    for (const auto& [number, iteration] : turn.iterations) {
      std::string when = ", iteration " + std::to_string(number);
      if (iteration.before)
        run->stages.push_back({iteration.before->file, "before" + of_what + when});
      for (const Meta* pass : iteration.passes) {
        std::string name = pass->pass.substr(0, pass->pass.find('{'));
        run->stages.push_back({pass->file, "after " + name + when});
      }
      if (iteration.after) run->stages.push_back({iteration.after->file, "after" + of_what + when});
    }
  }

  std::vector<Meta> metas_;
  ContentOf content_;
  std::vector<Turn> turns_;
};

}  // namespace

bool IsMetaDump(llvm::StringRef file) { return ParseMeta(file).has_value(); }

std::vector<MetaRun> MetaRunsOf(llvm::ArrayRef<std::string> files, ContentOf content) {
  std::map<std::string, std::vector<Meta>> by_address;
  for (const std::string& file : files) {
    if (std::optional<Meta> meta = ParseMeta(file)) by_address[meta->address].push_back(*meta);
  }
  std::vector<MetaRun> runs;
  for (auto& [address, metas] : by_address)
    llvm::move(Address(std::move(metas), content).Runs(), std::back_inserter(runs));
  return runs;
}

}  // namespace grapnel
