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
  double rtol = 1e-4;                // multiplied by 64 for half and bfloat16
  double atol = 1e-5;    // relative to the tensor's largest finite magnitude; multiplied like rtol
  double timeout_s = 0;  // seconds for one run; 0: no limit
  // True if the passes remove prints and assertions (debug_stripper); then prints and assertions
  // are not compared.
  bool drops_debugging = false;
  ThreadPool* pool = nullptr;  // required; outlives the check
  MessageSink sink;
  // Called before each run is compiled: fills a session with the values of variables and tables;
  // may be null.
  std::function<Error(const Module&, Session&)> fill_session;
};

// Runs a graph before it is changed, and compares later runs of the changed graph. Runs use the
// given feeds, completed by several sets of generated feeds, and, with the first of these sets,
// execute nodes in several orders if the graph has state or effects. A fetch that differs between
// runs of the unchanged graph (random numbers, a race) is reported and not compared.
class ValueCheck {
 public:
  // Errors: the unchanged graph cannot run with any of the feeds, or exceeds the time limit.
  static Expected<std::unique_ptr<ValueCheck>> Create(const Module& module,
                                                      ValueCheckOptions options);
  // Returns nullopt if every compared fetch and effect is unchanged; else describes the first
  // difference, or says that the graph no longer runs. Feeds that the graph no longer has are
  // ignored.
  Expected<std::optional<std::string>> Differs(const Module& module) const;
  // DiffersWildly() is like Differs(), but with feeds that are not finite, and compares with the
  // graph that was last passed to Renew(). Use it only for rewrites of plugins: for such feeds
  // TensorFlow's rewrites may change the outputs, and so do grapnel's versions of them.
  void Renew(const Module& module);
  std::optional<std::string> DiffersWildly(const Module& module) const;
  int num_compared() const;  // number of compared fetches
  // number of compared targets of effects, such as variables, files, printing
  int num_effects() const;
  // Returns the sizes that were used for unknown dimensions, one for each trial that varies them;
  // empty if no generated feed has unknown dimensions.
  std::vector<int64_t> open_sizes() const;

 private:
  struct Ran {
    std::vector<Tensor> outputs;
    Effects effects;
  };
  struct Tried {
    std::string name;             // "open sizes as 3"
    std::optional<int64_t> size;  // of unknown dimensions; nullopt: the trial does not vary it
    std::vector<FedValue> feeds;
    std::vector<EffectOrder> orders;
    std::vector<std::optional<Literal>> reference;  // by fetch; nullopt: not compared
    Effects effects;
    // Targets whose effects are compared in any order, and targets whose effects are not compared.
    std::vector<std::string> unordered, ignored;
    bool ends_with_assertion = false;  // an assertion fails: nothing else is compared
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
  bool has_state_ = false;  // a node has an effect, or reads state (EffectLog)
  std::vector<Tried> tried_, wild_;
};

// Returns the open sizes as text, " with open sizes as 2, 1 and 3"; "" if `sizes` is empty.
std::string OpenSizesText(llvm::ArrayRef<int64_t> sizes);

// Returns an instrumentation that checks values after each pass that changed the graph; after a
// plugin's pass it also uses feeds that are not finite. The first pass that changes a value ends
// the run with an error, and `difference` describes the change. `check` and `difference` must
// outlive the run.
std::unique_ptr<Instrumentation> MakeValueCheckInstrumentation(ValueCheck* check,
                                                               std::string* difference);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_VALUE_CHECK_H_
