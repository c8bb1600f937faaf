// Checks that a rewritten graph still computes the same values.
#ifndef GRAPNEL_LIB_CHECK_VALUE_CHECK_H_
#define GRAPNEL_LIB_CHECK_VALUE_CHECK_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/check/effects.h"
#include "lib/check/trials.h"
#include "lib/exec/session.h"
#include "lib/exec/tensor.h"
#include "lib/ir/module.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

struct ValueCheckOptions {
  std::vector<FedValue> feeds;       // the given feeds; others are generated (Trial)
  std::vector<std::string> fetches;  // tensors, or nodes without outputs
  double rtol = 1e-4;                // half and bfloat16: 64 times that
  double atol = 1e-5;                // relative to the largest finite magnitude of the tensor
  double timeout_s = 0;              // for one run; 0: no limit
  // The passes drop prints and assertions (debug_stripper), so their absence is not a difference.
  bool drops_debugging = false;
  ThreadPool* pool = nullptr;  // required; outlives the check
  MessageSink sink;
  // Called before each run: fills a session with the values of variables and tables; may be null.
  std::function<Error(const Module&, Session&)> fill_session;
};

// Runs a graph before it is changed, and again on request: on the given feeds and on several
// generated ones, and in several orders if it has state or effects. A fetch that differs between
// runs of the unchanged graph (random numbers, a race) is reported and not compared.
class ValueCheck {
 public:
  // Errors: the unchanged graph cannot run on any of the feeds, or not within the time limit.
  static Expected<std::unique_ptr<ValueCheck>> Create(const Module& module,
                                                      ValueCheckOptions options);
  // Returns nullopt if every fetch and every effect is unchanged; else the differences, including
  // that the graph no longer runs. Ignores a feed that the graph no longer has.
  Expected<std::optional<std::string>> Differs(const Module& module) const;
  // The same for values that are not finite, relative to the graph last passed to Renew().
  // TensorFlow's rewrites change such results, and so do ours, which match them, so this is used
  // for rewrites of plugins.
  void Renew(const Module& module);
  std::optional<std::string> DiffersWildly(const Module& module) const;
  int num_compared() const;  // fetches
  int num_effects() const;   // targets of effects: variables, files, printing
  // Returns the sizes tried for open dimensions; empty if there are no open dimensions.
  std::vector<int64_t> open_sizes() const;

 private:
  struct Ran {
    std::vector<Tensor> outputs;
    Effects effects;
  };
  struct Tried {
    std::string name;             // "open sizes as 3"
    std::optional<int64_t> size;  // of open dimensions; nullopt: the trial has no open dimensions
    std::vector<FedValue> feeds;
    std::vector<EffectOrder> orders;
    std::vector<std::optional<Literal>> reference;  // by fetch; nullopt: not compared
    Effects effects;
    std::vector<std::string> unordered, ignored;  // targets of effects
    bool ends_with_assertion = false;             // in every run, so nothing else is known
  };
  ValueCheck() = default;
  Expected<Ran> RunGraph(const Module& module, const std::vector<FedValue>& feeds,
                         EffectOrder order, llvm::ArrayRef<std::string> fetches,
                         bool* assertion_failed = nullptr) const;
  std::optional<Tried> Try(const Module& module, const Trial& trial, std::string* why_not);
  Error Settle(const Module& module, Tried* tried);
  void Distrust(const Ran& other, const char* why, Tried* tried);
  std::optional<std::string> DifferenceOf(const Tensor& got, const Literal& expected) const;
  std::optional<std::string> DifferenceOf(Ran ran, const Tried& tried) const;
  std::optional<std::string> DiffersOn(const std::vector<Tried>& all, const Module& module) const;
  std::string WhyNotComputed(const Module& module, const Tried& tried, EffectOrder order,
                             Error error) const;

  ValueCheckOptions options_;
  bool has_state_ = false;  // some node has an effect, or reads what another writes
  std::vector<Tried> tried_, wild_;
};

// Returns " with open sizes as 2, 1 and 3"; "" if `sizes` is empty.
std::string OpenSizesText(llvm::ArrayRef<int64_t> sizes);

// Checks values after each pass that changed the graph, and after passes of plugins also on values
// that are not finite. The first pass that changes a value ends the run with an error, and
// `difference` describes the change. Both must outlive the run.
std::unique_ptr<Instrumentation> MakeValueCheckInstrumentation(ValueCheck* check,
                                                               std::string* difference);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_VALUE_CHECK_H_
