#include "lib/check/value_check.h"

#include <algorithm>
#include <cmath>

#include "lib/check/comparison.h"
#include "lib/exec/executor.h"
#include "lib/ir/find.h"
#include "lib/support/deadline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

bool HasState(const Module& module) {
  auto has = [](const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (EffectLog::HasEffect(node) || EffectLog::ReadsState(node)) return true;
    }
    return false;
  };
  return has(module.main) ||
         llvm::any_of(module.functions, [&](const auto& function) { return has(function->body); });
}

// Returns only the effects on one target.
Effects EffectsOn(const Effects& effects, const std::string& target) {
  auto found = effects.find(target);
  return found == effects.end() ? Effects() : Effects{{target, found->second}};
}

class ValueCheckInstrumentation : public Instrumentation {
 public:
  bool ReadsRewrites() const override { return false; }
  ValueCheckInstrumentation(ValueCheck* check, std::string* difference)
      : check_(*check), difference_(*difference) {}
  Error BeforePass(const Stage& stage, const Module& module) override {
    if (!stage.plugins.empty()) check_.Renew(module);
    return Error::success();
  }
  Error AfterPass(const Stage& stage, const Module& module) override {
    if (!stage.changed) return Error::success();
    ASSIGN_OR_RETURN(std::optional<std::string> difference, check_.Differs(module));
    if (!difference && !stage.plugins.empty()) difference = check_.DiffersWildly(module);
    if (!difference) return Error::success();
    difference_ = *difference;
    return MakeError("{0}", *difference);
  }

 private:
  ValueCheck& check_;
  std::string& difference_;
};

}  // namespace

Expected<std::unique_ptr<ValueCheck>> ValueCheck::Create(const Module& module,
                                                         ValueCheckOptions options) {
  std::unique_ptr<ValueCheck> check(new ValueCheck);
  check->options_ = std::move(options);
  check->has_state_ = HasState(module);
  std::vector<std::string> left_out;
  std::optional<std::string> first_error;
  for (const Trial& trial : TrialsOf(module.main, check->options_.feeds)) {
    std::string why_not;
    std::optional<Tried> tried = check->Try(module, trial, &why_not);
    if (tried) {
      RETURN_IF_ERROR(check->Settle(module, &*tried));
      check->tried_.push_back(std::move(*tried));
    } else if (!trial.is_extra) {
      if (!first_error) first_error = why_not;
      left_out.push_back(trial.name + " could not be tried: " + why_not);
    }
  }
  if (check->tried_.empty())
    return MakeError("values cannot be checked, the original graph does not run: {0}",
                     first_error.value_or("there are no values to feed"));
  for (const std::string& text : left_out) {
    if (check->options_.sink) check->options_.sink(Severity::kWarning, text);
  }
  return check;
}

// Runs the graph with one choice of the trial after another until a run succeeds. Returns nullopt
// if none does; `why_not` then has the error for the first choice. In an extra trial, a run that a
// failed assertion ends also counts, unless a later choice succeeds.
std::optional<ValueCheck::Tried> ValueCheck::Try(const Module& module, const Trial& trial,
                                                 std::string* why_not) {
  std::optional<Tried> asserting;
  for (const MadeUp& choice : trial.choices) {
    Tried tried;
    bool assertion_failed = false;
    tried.name = trial.name;
    std::string text;
    auto feeds = CompleteFeeds(module.main, options_.feeds, choice);
    if (feeds) {
      tried.feeds = std::move(*feeds);
      auto ran = RunGraph(module, tried.feeds, EffectOrder::kAsInFile, options_.fetches,
                          &assertion_failed);
      if (ran) {
        if (trial.varies_sizes) tried.size = choice.open_size;
        if (tried.size) tried.name = "open sizes as " + std::to_string(*tried.size);
        for (const Tensor& tensor : ran->outputs) {
          tried.reference.emplace_back();
          if (tensor && !tensor.HoldsObjects()) tried.reference.back() = tensor.ToLiteral();
        }
        tried.effects = std::move(ran->effects);
        return tried;
      }
      text = TextOf(ran.takeError());
    } else {
      text = TextOf(feeds.takeError());
    }
    if (why_not->empty()) *why_not = std::move(text);
    if (!assertion_failed || asserting || options_.drops_debugging) continue;
    tried.ends_with_assertion = true;
    tried.reference.resize(options_.fetches.size());
    asserting = std::move(tried);
  }
  return trial.is_extra ? std::move(asserting) : std::nullopt;
}

// Excludes from the comparison all fetches and effects that vary between runs of the unchanged
// graph. Tries other orders of nodes only with the first feeds, since values do not change which
// orders are possible.
Error ValueCheck::Settle(const Module& module, Tried* tried) {
  tried->orders = {EffectOrder::kAsInFile};
  if (tried->ends_with_assertion) return Error::success();
  ASSIGN_OR_RETURN(Ran again,
                   RunGraph(module, tried->feeds, EffectOrder::kAsInFile, options_.fetches));
  Distrust(again, "differs from run to run", tried);
  if (!has_state_ || !tried_.empty()) return Error::success();
  for (EffectOrder order : {EffectOrder::kWritesLast, EffectOrder::kReadsLast}) {
    auto ran = RunGraph(module, tried->feeds, order, options_.fetches);
    if (ran) {
      tried->orders.push_back(order);
      Distrust(*ran, "depends on the order of nodes that no edge orders", tried);
    } else {
      llvm::consumeError(ran.takeError());
    }
  }
  return Error::success();
}

void ValueCheck::Distrust(const Ran& other, const char* why, Tried* tried) {
  for (size_t i = 0; i < other.outputs.size(); ++i) {
    std::optional<Literal>& reference = tried->reference[i];
    if (!reference || !DifferenceOf(other.outputs[i], *reference)) continue;
    reference.reset();
    if (options_.sink && tried_.empty())
      options_.sink(Severity::kWarning,
                    "fetch '" + options_.fetches[i] + "' " + why + ": not compared");
  }
  auto same = [&](const Tensor& a, const Tensor& b) { return DifferenceOf(a, b.ToLiteral()); };
  std::vector<std::string> targets;
  for (const Effects* effects : {&std::as_const(tried->effects), &other.effects}) {
    for (const auto& [target, list] : *effects) targets.push_back(target);
  }
  for (const std::string& target : targets) {
    if (llvm::is_contained(tried->ignored, target)) continue;
    Effects mine = EffectsOn(tried->effects, target), its = EffectsOn(other.effects, target);
    if (!grapnel::DifferenceOf(its, mine, tried->unordered, same)) continue;
    bool in_any_order = !grapnel::DifferenceOf(its, mine, {target}, same);
    (in_any_order ? tried->unordered : tried->ignored).push_back(target);
  }
}

Expected<ValueCheck::Ran> ValueCheck::RunGraph(const Module& module,
                                               const std::vector<FedValue>& feeds,
                                               EffectOrder order,
                                               llvm::ArrayRef<std::string> fetches,
                                               bool* assertion_failed) const {
  ExecutorOptions options;
  std::vector<Tensor> values;
  for (const FedValue& feed : feeds) {
    if (!FindTensorIfThere(module.main, feed.tensor)) continue;
    options.feeds.push_back(feed.tensor);
    values.push_back(feed.value);
  }
  options.fetches = fetches;
  options.pool = options_.pool;
  CancelFlag cancel;
  options.cancel = &cancel;
  Session session;
  options.session = &session;
  EffectLog log(order, !options_.drops_debugging);
  if (has_state_ || HasState(module)) {
    options.hook = &log;
    options.print = log.print();
  }
  // The time limit includes compilation, which may take long: it computes all values that depend
  // only on constants.
  Deadline deadline(options_.timeout_s, cancel, [] {});
  auto run = [&]() -> Expected<Ran> {
    if (options_.fill_session) RETURN_IF_ERROR(options_.fill_session(module, session));
    ASSIGN_OR_RETURN(auto executor, Executor::Compile(module.main, options));
    Ran ran;
    ASSIGN_OR_RETURN(ran.outputs, executor->Run(values));
    ran.effects = log.Take(session);
    return ran;
  };
  auto ran = run();
  if (assertion_failed) *assertion_failed = log.assertion_failed();
  if (!ran && cancel.is_set())
    return Annotate("the graph is " + NotDoneText(options_.timeout_s), ran.takeError());
  return ran;
}

std::optional<std::string> ValueCheck::DifferenceOf(const Tensor& got,
                                                    const Literal& expected) const {
  if (!got) return "has no value";
  if (got.HoldsObjects()) return "is a resource or variant";
  DataType type = expected.dtype();
  double coarse = type == proto::DT_HALF || type == proto::DT_BFLOAT16 ? 64 : 1;
  Comparison comparison = Compare(got.ToLiteral(), expected, options_.rtol * coarse,
                                  options_.atol * coarse * LargestMagnitude(expected));
  if (comparison.same) return std::nullopt;
  return comparison.message;
}

std::optional<std::string> ValueCheck::DifferenceOf(Ran ran, const Tried& tried) const {
  std::string where = tried.name.empty() ? "" : " (with " + tried.name + ")";
  for (size_t i = 0; i < ran.outputs.size(); ++i) {
    if (!tried.reference[i]) continue;
    if (auto difference = DifferenceOf(ran.outputs[i], *tried.reference[i]))
      return "fetch '" + options_.fetches[i] + "' " + *difference + where;
  }
  Effects expected = tried.effects;
  for (const std::string& target : tried.ignored) {
    expected.erase(target);
    ran.effects.erase(target);
  }
  auto same = [&](const Tensor& a, const Tensor& b) { return DifferenceOf(a, b.ToLiteral()); };
  auto difference = grapnel::DifferenceOf(ran.effects, expected, tried.unordered, same);
  if (difference) *difference += where;
  return difference;
}

std::string ValueCheck::WhyNotComputed(const Module& module, const Tried& tried, EffectOrder order,
                                       Error error) const {
  std::string why = TextOf(std::move(error)), what = "the fetches";
  if (options_.fetches.size() == 1) what = "fetch '" + options_.fetches[0] + "'";
  for (size_t i = 0; options_.fetches.size() > 1 && i < options_.fetches.size(); ++i) {
    auto alone = RunGraph(module, tried.feeds, order, options_.fetches[i]);
    if (alone) continue;
    why = TextOf(alone.takeError());
    what = "fetch '" + options_.fetches[i] + "'";
    break;
  }
  std::string where = tried.name.empty() ? "" : " (with " + tried.name + ")";
  return what + " can no longer be computed: " + why + where;
}

void ValueCheck::Renew(const Module& module) {
  wild_.clear();
  for (const Trial& trial : WildTrialsOf(module.main, options_.feeds)) {
    std::string why_not;
    std::optional<Tried> tried = Try(module, trial, &why_not);
    if (!tried) continue;
    if (Error error = Settle(module, &*tried))
      llvm::consumeError(std::move(error));
    else
      wild_.push_back(std::move(*tried));
  }
}

Expected<std::optional<std::string>> ValueCheck::Differs(const Module& module) const {
  return DiffersOn(tried_, module);
}

std::optional<std::string> ValueCheck::DiffersWildly(const Module& module) const {
  return DiffersOn(wild_, module);
}

std::optional<std::string> ValueCheck::DiffersOn(const std::vector<Tried>& all,
                                                 const Module& module) const {
  for (const Tried& tried : all) {
    for (EffectOrder order : tried.orders) {
      auto ran = RunGraph(module, tried.feeds, order, options_.fetches);
      if (tried.ends_with_assertion) {
        if (ran)
          return "what is asserted: the assertion that ended the run is gone (with " + tried.name +
                 ")";
        llvm::consumeError(ran.takeError());
        continue;
      }
      if (!ran) return WhyNotComputed(module, tried, order, ran.takeError());
      if (auto difference = DifferenceOf(std::move(*ran), tried)) return difference;
    }
  }
  return std::nullopt;
}

int ValueCheck::num_compared() const {
  int compared = 0;
  for (size_t i = 0; i < options_.fetches.size(); ++i) {
    compared += llvm::any_of(tried_, [&](const Tried& tried) { return !!tried.reference[i]; });
  }
  return compared;
}

int ValueCheck::num_effects() const {
  return static_cast<int>(tried_[0].effects.size() - tried_[0].ignored.size());
}

std::vector<int64_t> ValueCheck::open_sizes() const {
  std::vector<int64_t> sizes;
  for (const Tried& tried : tried_) {
    if (tried.size) sizes.push_back(*tried.size);
  }
  return sizes;
}

std::string OpenSizesText(llvm::ArrayRef<int64_t> sizes) {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const char* before = i == 0 ? " with open sizes as " : i + 1 < sizes.size() ? ", " : " and ";
    text += before + std::to_string(sizes[i]);
  }
  return text;
}

std::unique_ptr<Instrumentation> MakeValueCheckInstrumentation(ValueCheck* check,
                                                               std::string* difference) {
  return std::make_unique<ValueCheckInstrumentation>(check, difference);
}

}  // namespace grapnel
