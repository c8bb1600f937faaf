#include "lib/diff/meta_runs.h"

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>
#include <tuple>

#include "lib/diff/dump_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace grapnel {
namespace {

// The passes in the order of MetaOptimizer::InitializeOptimizers in TensorFlow 2.21.
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

// A dump's file name: before_MetaOptimizer_iteration_I_ADDRESS_K,
// after_MetaOptimizer_iteration_I_PASS_ADDRESS_K or after_MetaOptimizer_ADDRESS_K. TensorFlow omits
// K if it is 0.
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

// The dumps of one iteration of MetaOptimizer's loop over one graph.
struct Iteration {
  const Meta *before = nullptr, *after = nullptr;
  std::vector<const Meta*> passes;
};

// The iterations of one loop over one graph. A run of MetaOptimizer has one such loop for its
// passes, and usually a second one for the final module pass.
struct Turn {
  std::map<int, Iteration> iterations;

  const Meta* First() const { return iterations.begin()->second.before; }
  const Meta* Last() const { return iterations.rbegin()->second.after; }
};

// The role of a Turn (a loop over one graph) in a run: kFirst is the loop of the passes, kFinal
// that of the final module pass; kAlone is a final module pass of a run whose earlier dumps are
// missing.
enum class Role { kFirst, kFinal, kAlone };
constexpr int kScoreAlone = -6;

// All dumps with the same address in their names.
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
    std::vector<std::vector<const Turn*>> groups = Groups();
    std::vector<const Meta*> result_of = ResultsOf(groups, results);
    for (size_t i = 0; i < groups.size(); ++i) {
      MetaRun run;
      for (const Turn* turn : groups[i]) AddStages(*turn, turn != groups[i].front(), &run);
      run.has_result = result_of[i] != nullptr;
      if (run.has_result) run.stages.push_back({result_of[i]->file, "after MetaOptimizer"});
      if (!run.stages.empty()) runs.push_back(std::move(run));
    }
    for (const Meta* result : results) {
      if (!llvm::is_contained(result_of, result))
        runs.push_back({{{result->file, "after MetaOptimizer"}}, true});
    }
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

  // Groups the dumps into turns (loops over one graph). Each turn begins with iteration 0; not
  // every turn has more. A later iteration belongs to the first turn whose previous iteration ended
  // with the graph that the later one begins with.
  void FindTurns() {
    std::map<std::pair<int, int>, size_t> begun;  // index of the turn, by iteration and repeat
    std::map<int, size_t> next;                   // the turn after the last one, by iteration
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

  // Assigns the dumps of passes to turns. Those of one iteration of one run form a chain: they have
  // the same iteration and repeat number. In the first iteration that has chains, the k-th chain
  // belongs to the k-th run. The chains of later iterations are in the order of the runs too, but
  // not every run has one.
  void FindChains() {
    using Chain = std::vector<const Meta*>;
    std::map<int, std::map<int, Chain>> chains;  // by iteration and repeat
    for (const Meta& meta : metas_) {
      if (!meta.pass.empty()) chains[meta.iteration][meta.repeat].push_back(&meta);
    }
    for (const auto& [iteration, of_iteration] : chains) {
      std::vector<const Chain*> in_order;
      for (const auto& [repeat, chain] : of_iteration) in_order.push_back(&chain);
      if (roles_.empty()) FindRoles(in_order);
      size_t turn = 0;
      for (size_t i = 0; i < in_order.size(); ++i, ++turn) {
        turn = NextTurnFor(*in_order[i]->back(), turn);
        if (turn >= turns_.size()) turns_.resize(turn + 1);
        turns_[turn].iterations[iteration].passes = *in_order[i];
      }
    }
    if (roles_.empty()) FindRoles({});
  }

  // Returns the turn of a chain whose last dump is `pass`: the first turn from `first` on that
  // begins a run and whose iteration ended with the graph in `pass`; else the first that begins a
  // run and has the iteration; else `first`.
  size_t NextTurnFor(const Meta& pass, size_t first) const {
    std::optional<size_t> fallback;
    for (size_t turn = first; turn < turns_.size(); ++turn) {
      auto it = turns_[turn].iterations.find(pass.iteration);
      if (it == turns_[turn].iterations.end() || RoleOf(turn) != Role::kFirst) continue;
      if (SameBytes(&pass, it->second.after)) return turn;
      if (!fallback) fallback = turn;
    }
    return fallback.value_or(first);
  }

  Role RoleOf(size_t turn) const { return turn < roles_.size() ? roles_[turn] : Role::kFirst; }

  // Returns the result of each run. The k-th result belongs to the k-th run; if dumps are missing,
  // to the next run that ends with a graph of the same node names.
  std::vector<const Meta*> ResultsOf(llvm::ArrayRef<std::vector<const Turn*>> groups,
                                     llvm::ArrayRef<const Meta*> results) const {
    std::vector<const Meta*> result_of(groups.size());
    bool is_whole = groups.size() == results.size();
    size_t next = 0;
    for (const Meta* result : results) {
      size_t at = next;
      while (!is_whole && at < groups.size() && !SameNames(groups[at].back()->Last(), result)) ++at;
      if (at >= groups.size()) continue;
      result_of[at] = result;
      next = at + 1;
    }
    return result_of;
  }

  // Assigns the roles of the turns. There are as many runs as chains, or as results if there are no
  // chains. A run has one turn, and at most one more for the final module pass; if the first dumps
  // of a run are missing, its final turn is kAlone. Chooses the assignment that agrees best with
  // the contents: the first iteration of a run ends with the output of its last pass, and the final
  // pass starts from the output of the iterations. Among equally good assignments, prefers kFinal
  // to kFirst to kAlone, from the last turn backwards.
  void FindRoles(llvm::ArrayRef<const std::vector<const Meta*>*> chains) {
    size_t num_turns = turns_.size();
    size_t num_results =
        llvm::count_if(metas_, [](const Meta& meta) { return meta.iteration == kResult; });
    size_t num_runs = chains.empty() ? num_results : chains.size();
    roles_.assign(num_turns, Role::kFirst);
    constexpr size_t kMostStates = 1 << 24;
    if (num_runs == 0 || num_runs >= num_turns || num_turns * num_runs > kMostStates) return;
    // best[r][t]: the best assignment in which the first t turns are r runs, apart from turns that
    // are kAlone.
    struct Choice {
      int score = INT_MIN / 2;
      Role last = Role::kFirst;  // kFinal: the last run has two turns
    };
    std::vector<std::vector<Choice>> best(num_runs + 1, std::vector<Choice>(num_turns + 1));
    best[0][0].score = 0;
    for (size_t run = 0; run <= num_runs; ++run) {
      for (size_t turn = run; turn < num_turns; ++turn) {
        int score = best[run][turn].score;
        auto offer = [&](Role last, int with) {
          size_t with_runs = last == Role::kAlone ? run : run + 1;
          Choice& choice = best[with_runs][turn + (last == Role::kFinal ? 2 : 1)];
          if (with > choice.score) choice = {with, last};
        };
        offer(Role::kAlone, score + kScoreAlone);
        if (run == num_runs) continue;
        score += ScoreOfFirst(turn, chains.empty() ? nullptr : chains[run]->back());
        offer(Role::kFirst, score);
        if (turn + 2 <= num_turns) offer(Role::kFinal, score + ScoreOfFinal(turn + 1));
      }
    }
    size_t run = num_runs, turn = num_turns;
    while (turn > 0) {
      Role last = best[run][turn].last;
      roles_[--turn] = last;
      if (last == Role::kFinal) --turn;  // the run's kFirst
      if (last != Role::kAlone) --run;
    }
  }

  int ScoreOfFirst(size_t turn, const Meta* last_pass) const {
    if (!last_pass) return 0;
    auto it = turns_[turn].iterations.find(last_pass->iteration);
    return it != turns_[turn].iterations.end() && SameBytes(last_pass, it->second.after) ? 4 : 0;
  }
  int ScoreOfFinal(size_t turn) const {
    return SameNames(turns_[turn - 1].Last(), turns_[turn].First()) ? 2 : -5;
  }

  std::vector<std::vector<const Turn*>> Groups() const {
    std::vector<std::vector<const Turn*>> groups;
    for (size_t i = 0; i < turns_.size(); ++i) {
      if (turns_[i].iterations.empty()) continue;
      if (RoleOf(i) != Role::kFinal || groups.empty()) groups.emplace_back();
      groups.back().push_back(&turns_[i]);
    }
    return groups;
  }

  static void AddStages(const Turn& turn, bool is_final, MetaRun* run) {
    llvm::StringRef of_what = is_final ? " final tfg_optimizer" : "";
    for (const auto& [number, iteration] : turn.iterations) {
      auto add = [run, number = number](const Meta* meta, const llvm::Twine& what) {
        if (meta)
          run->stages.push_back({meta->file, (what + ", iteration " + llvm::Twine(number)).str()});
      };
      add(iteration.before, "before" + of_what);
      for (const Meta* pass : iteration.passes)
        add(pass, "after " + llvm::StringRef(pass->pass).split('{').first);
      add(iteration.after, "after" + of_what);
    }
  }

  std::vector<Meta> metas_;
  ContentOf content_;
  std::vector<Turn> turns_;
  std::vector<Role> roles_;  // by turn
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
