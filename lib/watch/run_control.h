// Hooks that end a sequence of runs, and that keep its variables.
#ifndef GRAPNEL_LIB_WATCH_RUN_CONTROL_H_
#define GRAPNEL_LIB_WATCH_RUN_CONTROL_H_

#include <memory>
#include <string>

#include "lib/watch/expression_place.h"
#include "lib/watch/step_hook.h"

namespace grapnel {

// No run follows the first after which an expression over tensors of the main graph is true.
class StopWhen : public StepHook {
 public:
  // Errors: it cannot be read; PlaceOf's; tensors of a function or inside of a loop. `sink`: told
  // where it never was.
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
  std::vector<std::string> tensors_;  // of each of its names
  std::vector<std::string> names_;
};

// Writes the variables after the last run as a checkpoint, and with `every` above 0 after each so
// many runs as PREFIX-RUN. Nothing after a run that failed.
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
