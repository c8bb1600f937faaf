// Hooks that end a sequence of runs, and that save its variables.
#ifndef GRAPNEL_LIB_WATCH_RUN_CONTROL_H_
#define GRAPNEL_LIB_WATCH_RUN_CONTROL_H_

#include <memory>
#include <string>

#include "lib/watch/expression_place.h"
#include "lib/watch/step_hook.h"

namespace grapnel {

// Ends a sequence of runs after the first run in which an expression over tensors of the main graph
// is true.
class StopWhen : public StepHook {
 public:
  // Errors: the text is not an expression; those of PlaceOf; a tensor is in a function or a loop.
  // `sink` receives a warning if the expression was not true after any run, unless a run failed or
  // another hook ended the sequence.
  static Expected<std::unique_ptr<StopWhen>> Make(
      llvm::StringRef text, const Module& module,
      const std::function<std::string(llvm::StringRef)>& key, MessageSink sink);
  std::string name() const override { return "--until"; }
  Error Begin(StepContext& step) override;
  Error AfterRun(StepContext& step) override;
  Error End(StepContext& step) override;

 private:
  MessageSink sink_;
  TensorExpression expression_;
  std::vector<std::string> tensors_;  // the graph's tensors, one for each of names_
  std::vector<std::string> names_;
};

// Writes the variables as the checkpoint PREFIX after the last run. With a positive `every`, also
// writes the checkpoint PREFIX-RUN after each run whose number RUN is a multiple of `every`. Writes
// nothing after a failed run.
class SaveVariablesHook : public StepHook {
 public:
  SaveVariablesHook(std::string prefix, int64_t every)
      : prefix_(std::move(prefix)), every_(every) {}
  std::string name() const override { return "--save-variables"; }
  Error AfterRun(StepContext& step) override;
  Error End(StepContext& step) override;

 private:
  std::string prefix_;
  int64_t every_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_RUN_CONTROL_H_
