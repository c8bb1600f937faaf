// The taps of a run, and where what they see goes: lines, or a folder of TensorFlow's debugger.
#ifndef GRAPNEL_LIB_JOB_RUN_TAPS_H_
#define GRAPNEL_LIB_JOB_RUN_TAPS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/tfdbg/debug_tap.h"
#include "lib/watch/step_hook.h"
#include "lib/watch/tap_lines.h"

namespace grapnel {

struct TapRequest {
  TapFilter filter;
  TapMode mode = TapMode::kFullHealth;
  llvm::raw_ostream* lines = nullptr;  // where lines go; null: there are none
  std::string logdir;                  // a folder to make; empty: none
  int64_t circular_buffer_size = 1000;
  uint64_t most_bytes = 0;   // of what is written; 0: no limit
  bool counts_each = false;  // a report is asked for
  bool says_run = false;     // events say of which run they are
  std::string model;         // as it was typed: source lines in the folder point to it
  ThreadPool* pool = nullptr;
};

// What of it a folder of the debugger is made with; warnings of modes that TensorBoard does not
// have go to `sink`.
DebugWriterOptions LogdirOptions(const TapRequest& request, const MessageSink& sink);
// What a limit left out, after the run.
void ReportOmitted(int64_t left_out, uint64_t most_bytes, const MessageSink& sink);

// Made before the plan and kept as long as it. What the request and the graph point to outlives it.
class RunTaps : public StepHook {
 public:
  // Errors: a name that nothing has, a folder that cannot be written. `sink`: told of limits that
  // were reached.
  static Expected<std::unique_ptr<RunTaps>> Make(const OpenedGraph& opened, TapRequest request,
                                                 MessageSink sink);
  std::string name() const override { return logdir_ ? "--logdir" : "--tap"; }
  RunHook* node_hook() override { return tap_.get(); }
  Error BeforeRun(StepContext& step) override;
  Error AfterRun(StepContext& step) override;
  Error End(StepContext& step) override;
  WrittenTap& tap() { return *tap_; }

 private:
  RunTaps() = default;
  MessageSink sink_;
  bool says_run_ = false;
  uint64_t most_bytes_ = 0;
  std::unique_ptr<TapLines> lines_;
  std::unique_ptr<DebugWriter> logdir_;
  std::unique_ptr<WrittenTap> tap_;  // last: its thread writes to those above
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_TAPS_H_
