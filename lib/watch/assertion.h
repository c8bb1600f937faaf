// What a person says is true of tensors: `rank(x:0) == 2: a batch is a matrix`. Checked before a
// run where shapes, dtypes and constants decide, else where the tensors are made.
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
  std::string message;  // the person's; may be empty
  // "EXPRESSION" or "EXPRESSION: MESSAGE". Errors show where it cannot be read.
  static Expected<Assertion> Parse(llvm::StringRef text);
};

// Ends a run at the first assertion that does not hold: the error says where, of which values, and
// the person's message. An expression of several elements holds when all are true.
class AssertionHook : public StepHook, private ExpressionHook {
 public:
  // Errors: PlaceOf's, with the assertion.
  static Expected<std::unique_ptr<AssertionHook>> Make(
      const Module& module, std::vector<Assertion> assertions,
      const std::function<std::string(llvm::StringRef)>& key, MessageSink sink);

  // Those that cannot hold, whatever the values of `feeds` are, a text each. Those that always hold
  // are not asked again. Before the run. Cost: shapes of the module are inferred.
  std::vector<std::string> Refuted(llvm::ArrayRef<std::string> feeds);
  // The text of the one that ended a run, without the calls that the run puts before it, for the
  // text says them; empty: none did. After the run.
  const std::string& failure() const { return failure_; }

  std::string name() const override { return "--assert"; }
  RunHook* node_hook() override;  // null: all are decided
  // Errors: a tensor that no fetch needs.
  Error BeforeRun(StepContext& step) override;
  // Tells the sink of those that were never asked.
  Error End(StepContext& step) override;

 private:
  struct Entry {
    Assertion assertion;
    bool is_decided = false;  // before the run
    std::atomic<int64_t> times{0};
  };
  AssertionHook(const Module& module, MessageSink sink) : module_(module), sink_(std::move(sink)) {}
  Error OnValues(size_t expression, const Node& maker, llvm::ArrayRef<Tensor> values) override;
  // Of tensor `i` of the place.
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
