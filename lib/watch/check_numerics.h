// A hook that ends a run at the first op that puts out NaN or infinity, as
// tf.debugging.enable_check_numerics does.
#ifndef GRAPNEL_LIB_WATCH_CHECK_NUMERICS_H_
#define GRAPNEL_LIB_WATCH_CHECK_NUMERICS_H_

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/support/glob.h"
#include "lib/support/public.h"
#include "lib/watch/health.h"

namespace grapnel {

// Where a run was ended, with what the op was given.
struct GRAPNEL_PUBLIC NumericsFailure {
  Node node;
  int output = 0;
  Tensor tensor;
  std::vector<Tensor> inputs;
};

// Looks at floating-point outputs, but for those that TensorFlow passes over: of ops that hand
// values on (control flow, calls, Identity) or only move them (Reshape, Gather, Maximum, ...), and
// statistics of fused batch normalizations. A constant counts, as in TensorFlow's graphs.
class GRAPNEL_PUBLIC CheckNumerics : public RunHook {
 public:
  // `skipped`: nodes that are passed over too. `pool`: as HealthOf has it.
  explicit CheckNumerics(std::vector<Glob> skipped = {}, ThreadPool* pool = nullptr)
      : skipped_(std::move(skipped)), pool_(pool) {}
  bool Wants(const Node& node) override;
  bool EditsOutputs() const override { return false; }
  ElementCounter* Counter(const Node& node, const Tensor& output) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  // The error has the form of TensorFlow's: op, dtype, shape, counts, inputs, graph; and the node
  // and the calls that it was in, innermost last.
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // It does not change from run to run.
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override {
    return is_first ? AfterNode(node, value) : Error::success();
  }
  // What AfterNode's error said, where it ended a run, without the calls that the run puts before
  // it, for the text says them; else empty. After the run.
  const std::string& finding() const { return finding_; }
  // Before the plan is made: keeps what each op is given until it has run, so that failure() has
  // it. Ops cannot write over their inputs then.
  void KeepInputs() { keeps_inputs_ = true; }
  // Before the run: nodes of the main graph are ops that a program in eager mode calls, and their
  // messages are those of TensorFlow's eager mode, with the inputs' elements. Keeps inputs.
  void ExpectEagerOps() { is_eager_ = keeps_inputs_ = true; }
  // Before the run: what the message says last, of the lines that made the node.
  void SetStackSource(std::function<std::string(const Node&)> stack) { stack_ = std::move(stack); }
  // The first, where inputs are kept. After the run.
  const std::optional<NumericsFailure>& failure() const { return failure_; }

 private:
  std::string Message(const Node& node, size_t output, const Tensor& tensor, const Health& health,
                      size_t num_outputs, bool knows_inputs) const;

  std::vector<Glob> skipped_;
  ThreadPool* pool_;
  bool keeps_inputs_ = false, is_eager_ = false;
  std::function<std::string(const Node&)> stack_;
  std::mutex mutex_;
  std::string finding_;
  std::optional<NumericsFailure> failure_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_CHECK_NUMERICS_H_
