// Assertions that users make about tensors: `rank(x:0) == 2: a batch is a matrix`. Checked before a
// run if shapes, dtypes and constants decide them, else where the tensors are computed.
#ifndef GRAPNEL_LIB_WATCH_ASSERTION_H_
#define GRAPNEL_LIB_WATCH_ASSERTION_H_

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "lib/shape/module_shapes.h"
#include "lib/watch/expression_hook.h"
#include "lib/watch/step_hook.h"

namespace grapnel {

struct Assertion {
  TensorExpression expression;
  std::string message;  // the user's; may be empty
  // Parses "EXPRESSION" or "EXPRESSION: MESSAGE". Errors point to the unreadable part.
  static Expected<Assertion> Parse(llvm::StringRef text);
};

// Ends a run at the first assertion that fails. The error names the place, the values, and the
// user's message. An expression with several elements holds if all of them are true.
class AssertionHook : public StepHook, private ExpressionHook {
 public:
  // Errors: those of PlaceOf, with the assertion.
  static Expected<std::unique_ptr<AssertionHook>> Make(
      const Module& module, std::vector<Assertion> assertions,
      const std::function<std::string(llvm::StringRef)>& key, MessageSink sink);

  // Returns the texts of the assertions that fail for all values of `feeds`. Drops those that
  // always hold. Call it before the run. Cost: infers the shapes of the module.
  std::vector<std::string> Refuted(llvm::ArrayRef<std::string> feeds);
  // The text of the failure that ended a run, which names the calls itself, so without the calls
  // that the run puts in front; empty if none failed. Read it after the run.
  const std::string& failure() const { return failure_; }

  std::string name() const override { return "--assert"; }
  RunHook* node_hook() override;  // null: all are decided before the run
  // Errors: a tensor that no fetch needs.
  Error BeforeRun(StepContext& step) override;
  // Reports the assertions that were never evaluated to the sink.
  Error End(StepContext& step) override;

 private:
  struct Entry {
    Assertion assertion;
    bool is_decided = false;  // before the run
    std::atomic<int64_t> times{0};
  };
  AssertionHook(const Module& module, MessageSink sink) : module_(module), sink_(std::move(sink)) {}
  Error OnValues(size_t expression, const Node& maker, llvm::ArrayRef<Tensor> values) override;
  // Returns the form of tensor `i` of the place.
  TensorExpression::Form FormOf(const ModuleShapes& shapes, const ExpressionPlace& place, size_t i,
                                llvm::ArrayRef<Port> fed) const;
  std::string FailureText(const Entry& entry, const Node& maker,
                          const TensorExpression::Lookup& lookup) const;

  const Module& module_;
  MessageSink sink_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::atomic<int64_t> run_{0};
  std::mutex failure_mutex_;
  std::string failure_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ASSERTION_H_
