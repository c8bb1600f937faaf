// A hook that ends a run at the first op whose output has a NaN or an infinity, like
// tf.debugging.enable_check_numerics.
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

// The output that ended a run, with the inputs of its op.
struct GRAPNEL_PUBLIC NumericsFailure {
  Node node;
  int output = 0;
  Tensor tensor;
  std::vector<Tensor> inputs;
};

// Checks outputs with a float dtype, except those that TensorFlow skips: outputs of ops that
// forward values (control flow, calls, Identity) or only move them (Reshape, Gather, Maximum, ...),
// and the statistics of fused batch normalizations. Constants are checked too, as TensorFlow does
// in graphs.
class GRAPNEL_PUBLIC CheckNumerics : public RunHook {
 public:
  // `skipped` matches names of further nodes to skip. `pool`: see HealthOf.
  explicit CheckNumerics(std::vector<Glob> skipped = {}, ThreadPool* pool = nullptr)
      : skipped_(std::move(skipped)), pool_(pool) {}
  bool Wants(const Node& node) override;
  bool EditsOutputs() const override { return false; }
  ElementCounter* Counter(const Node& node, const Tensor& output) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  // The error has TensorFlow's form (op, dtype, shape, counts, inputs, graph) and adds the node and
  // the calls that led to it, innermost last.
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // Checks only the first time: a constant does not change between runs.
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override {
    return is_first ? AfterNode(node, value) : Error::success();
  }
  // The error that ended a run, without the list of calls that the executor prepends to errors (the
  // text itself names the calls); empty if all checked outputs were finite. Read it after the run.
  const std::string& finding() const { return finding_; }
  // Keeps the inputs of each op until the op has run, so that failure() has them. Then ops cannot
  // reuse the memory of their inputs. Call it before the plan is made.
  void KeepInputs() { keeps_inputs_ = true; }
  // Treats the nodes of the main graph as ops that a program in eager mode calls: error messages
  // are those of TensorFlow's eager mode, with the elements of inputs. Implies KeepInputs(). Call
  // it before the run.
  void ExpectEagerOps() { is_eager_ = keeps_inputs_ = true; }
  // Sets the function that returns the text at the end of the message: the stack of source lines
  // that created the node. Call it before the run.
  void SetStackSource(std::function<std::string(const Node&)> stack) { stack_ = std::move(stack); }
  // The first failure, if KeepInputs() was called and the output is not a constant's. Read it after
  // the run.
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
