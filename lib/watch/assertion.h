// Assertions that users make about tensors: `rank(x:0) == 2: a batch is a matrix`. An assertion is
// checked before a run if shapes, dtypes and constants decide it, else when its tensors have been
// computed.
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
  std::string message;  // written by the user; may be empty
  // Parses "EXPRESSION" or "EXPRESSION: MESSAGE". Errors have a caret under the unreadable part.
  static Expected<Assertion> Parse(llvm::StringRef text);
};

// Ends a run at the first assertion that fails. The error names the place (node, calls, iteration),
// the values, and the user's message. An expression with several elements holds if all elements are
// true.
class AssertionHook : public StepHook, private ExpressionHook {
 public:
  // Errors: those of PlaceOf, prefixed with the assertion's expression.
  static Expected<std::unique_ptr<AssertionHook>> Make(
      const Module& module, std::vector<Assertion> assertions,
      const std::function<std::string(llvm::StringRef)>& key, MessageSink sink);

  // Returns the failure messages of assertions that fail whatever the values of `feeds` are.
  // Assertions that always hold are not checked in the run. Decides nothing if a fed tensor is not
  // a Placeholder. Call it before the run. Cost: infers the shapes of the module.
  std::vector<std::string> Refuted(llvm::ArrayRef<std::string> feeds);
  // The failure that ended a run, without the list of calls that the executor prepends to errors
  // (the text itself names the calls); empty if no assertion failed. Read it after the run.
  const std::string& failure() const { return failure_; }

  std::string name() const override { return "--assert"; }
  RunHook* node_hook() override;  // null: Refuted() decided all assertions, or there are none
  // Errors: a tensor of an assertion is not computed, since no fetch needs it; the module lacks a
  // fed tensor; an assertion about fed tensors fails.
  Error BeforeRun(StepContext& step) override;
  // Warns through the sink about assertions that were never evaluated, unless a run failed.
  Error End(StepContext& step) override;

 private:
  struct Entry {
    Assertion assertion;
    bool is_decided = false;  // by Refuted(), before the run
    std::atomic<int64_t> times{0};
  };
  AssertionHook(const Module& module, MessageSink sink) : module_(module), sink_(std::move(sink)) {}
  Error OnValues(size_t expression, const Node& maker, llvm::ArrayRef<Tensor> values) override;
  // Returns the facts known before a run about tensor `i` of the expression (place.ports[i]).
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
