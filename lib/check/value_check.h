// Whether a graph that was rewritten still computes what it did.
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
  std::vector<FedValue> feeds;       // those that are given; the others are made up (Trial)
  std::vector<std::string> fetches;  // tensors, or nodes without outputs
  double rtol = 1e-4;                // half and bfloat16: 64 times that
  double atol = 1e-5;                // of the largest finite magnitude of the tensor
  double timeout_s = 0;              // of one run; 0: never
  // The passes drop what prints and asserts (debug_stripper): that is no difference then.
  bool drops_debugging = false;
  ThreadPool* pool = nullptr;  // required; outlives the check
  MessageSink sink;
  // Before each run: puts into a session what variables and tables hold; null: nothing.
  std::function<Error(const Module&, Session&)> fill_session;
};

// Runs a graph before it is changed, and again whenever asked: on the feeds that were given and on
// several that are made up, and where it has state or effects in several orders. A fetch that
// differs between runs of the unchanged graph (random numbers, a race) is said and not compared.
class ValueCheck {
 public:
  // Errors: the graph, as it is, cannot run on any of them, or not in time.
  static Expected<std::unique_ptr<ValueCheck>> Create(const Module& module,
                                                      ValueCheckOptions options);
  // Nothing when every fetch has the value that it had, and every effect is what it was; else what
  // is not, and how: also that the graph cannot run any more. A feed that the graph does not have
  // any more is left out.
  Expected<std::optional<std::string>> Differs(const Module& module) const;
  int num_compared() const;  // fetches
  int num_effects() const;   // what has effects: variables, files, what is printed
  // What open sizes were tried as; empty where there are none.
  std::vector<int64_t> open_sizes() const;

 private:
  struct Ran {
    std::vector<Tensor> outputs;
    Effects effects;
  };
  struct Tried {
    std::string name;               // "open sizes as 3"
    std::optional<int64_t> size;    // that open sizes are; nothing: none is
    std::vector<FedValue> feeds;
    std::vector<EffectOrder> orders;
    std::vector<std::optional<Literal>> reference;  // by fetch; nothing: not compared
    Effects effects;
    std::vector<std::string> unordered, ignored;  // of what they are done to
    bool ends_with_assertion = false;  // each run, and nothing else is known of it
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
  std::string WhyNotComputed(const Module& module, const Tried& tried, EffectOrder order,
                             Error error) const;

  ValueCheckOptions options_;
  bool has_state_ = false;  // some node has an effect, or reads what another writes
  std::vector<Tried> tried_;
};

// " with open sizes as 2, 1 and 3"; "" of none.
std::string OpenSizesText(llvm::ArrayRef<int64_t> sizes);

// Checks after each pass that changed something; the first that changed a value ends the run with
// an error, and `difference` then says what it was. Both must outlive the run.
std::unique_ptr<Instrumentation> MakeValueCheckInstrumentation(const ValueCheck* check,
                                                               std::string* difference);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_VALUE_CHECK_H_
