// Whether a graph that was rewritten still computes what it did.
#ifndef GRAPNEL_LIB_CHECK_VALUE_CHECK_H_
#define GRAPNEL_LIB_CHECK_VALUE_CHECK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/module.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

struct FedValue {
  std::string tensor;  // "x" or "x:0"
  Tensor value;
};

// Values for every Placeholder that `given` leaves out, after it in the order of the graph: the
// same for the same name, dtype and shape. Floats lie in (-2, 2) and are never 0, integers in [0,
// 4), strings are short numbers; an unknown dimension is 2, an unknown rank a scalar. Errors:
// resources and variants.
Expected<std::vector<FedValue>> CompleteFeeds(const Graph& graph, std::vector<FedValue> given);

struct ValueCheckOptions {
  std::vector<FedValue> feeds;       // of every placeholder that the fetches need
  std::vector<std::string> fetches;  // tensors, or nodes without outputs
  double rtol = 1e-4;                // half and bfloat16: 64 times that
  double atol = 1e-5;                // of the largest finite magnitude of the tensor
  double timeout_s = 0;              // of one run; 0: never
  ThreadPool* pool = nullptr;        // required; outlives the check
  MessageSink sink;
};

// Runs a graph once before it is changed, and again whenever asked. A fetch that differs between
// two runs of the unchanged graph (random numbers, state) is said and not compared.
class ValueCheck {
 public:
  // Errors: the graph cannot run, or not in time.
  static Expected<std::unique_ptr<ValueCheck>> Create(const Module& module,
                                                      ValueCheckOptions options);
  // Nothing when every fetch has the value it had; else which has not, and how. A feed that the
  // graph does not have any more is left out. Errors: the graph cannot run any more.
  Expected<std::optional<std::string>> Differs(const Module& module) const;
  int num_compared() const;

 private:
  ValueCheck() = default;
  Expected<std::vector<Tensor>> RunGraph(const Module& module) const;
  ValueCheckOptions options_;
  std::vector<std::optional<Literal>> reference_;  // by fetch; none: not compared
};

// Checks after each pass that changed something; the first that changed a value ends the run with
// an error, and `difference` then says what it was. Both must outlive the run.
std::unique_ptr<Instrumentation> MakeValueCheckInstrumentation(const ValueCheck* check,
                                                               std::string* difference);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_VALUE_CHECK_H_
