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

// A summary of tensors of the main graph is written once in each run, with the run's number (from
// 1) as the step; its tensors are computed even if no fetch needs them. A summary of tensors in a
// function or a loop is written each time that they are computed, and its step counts these times.
// Without requests, the hook writes a summary of the default kind for each fetch that has one; the
// output of a summary op (MergeSummary) is written unchanged.
class SummaryHook : public StepHook, private ExpressionHook {
 public:
  // The hook adds an event file to `folder` before the first run; existing files stay. Errors:
  // those of PlaceOf, prefixed with the summary; two summaries have the same tag.
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
  // By request: true if the summary is over a variable's handle in the main graph; then it is
  // computed after the run.
  std::vector<bool> is_of_variables_;
  std::mutex mutex_;
  std::vector<int64_t> times_;  // by request: how often it was written
  std::unique_ptr<EventStream> events_;
  int64_t run_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_SUMMARY_HOOK_H_
