// Writes summaries of a run's tensors as event files.
#ifndef GRAPNEL_LIB_WATCH_SUMMARY_HOOK_H_
#define GRAPNEL_LIB_WATCH_SUMMARY_HOOK_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/io/event_stream.h"
#include "lib/watch/expression_hook.h"
#include "lib/watch/step_hook.h"
#include "lib/watch/summary.h"

namespace grapnel {

// Writes a summary of the main graph once in each run, and computes its tensors even if no fetch
// needs them; steps are runs, from 1. Writes a summary of a function or a loop each time its
// tensors are computed, and steps count those. Without requests it summarizes each fetch by its
// default kind; the output of a summary op (MergeSummary) is written unchanged.
class SummaryHook : public StepHook, private ExpressionHook {
 public:
  // Adds a file to `folder` when the run begins; existing files stay. Errors: those of PlaceOf,
  // with the summary; two summaries with the same tag.
  static Expected<std::unique_ptr<SummaryHook>> Make(
      const Module& module, std::vector<SummaryRequest> requests, llvm::StringRef folder,
      const std::function<std::string(llvm::StringRef)>& key, MessageSink sink);

  std::string name() const override { return "--summaries"; }
  RunHook* node_hook() override { return requests_.empty() ? nullptr : this; }
  Error Begin(StepContext& step) override;
  Error BeforeRun(StepContext& step) override;
  Error AfterRun(StepContext& step) override;
  Error End(StepContext& step) override;

 private:
  SummaryHook(const Module& module, MessageSink sink) : module_(module), sink_(std::move(sink)) {}
  Error OnValues(size_t expression, const Node& maker, llvm::ArrayRef<Tensor> values) override;
  Error WriteOfVariables(const StepContext& step, size_t expression);
  Expected<bool> WriteWhole(const StepContext& step, size_t i);
  void Write(const std::string& tag, int64_t step, proto::Summary::Value value);

  const Module& module_;
  MessageSink sink_;
  std::string folder_;
  std::vector<SummaryRequest> requests_;
  // Summaries of the main graph over a variable's handle, which are computed after the run.
  std::vector<bool> is_of_variables_;
  std::mutex mutex_;
  std::vector<int64_t> times_;  // how often each was written
  std::unique_ptr<EventStream> events_;
  int64_t run_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_SUMMARY_HOOK_H_
