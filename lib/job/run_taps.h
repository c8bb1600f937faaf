// Records chosen tensors of a run (taps), and writes them as lines or as a debug folder of
// TensorFlow.
#ifndef GRAPNEL_LIB_JOB_RUN_TAPS_H_
#define GRAPNEL_LIB_JOB_RUN_TAPS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/tfdbg/debug_tap.h"
#include "lib/watch/layer_health.h"
#include "lib/watch/step_hook.h"
#include "lib/watch/tap_text.h"

namespace grapnel {

struct TapRequest {
  TapFilter filter;
  TapMode mode = TapMode::kFullHealth;
  llvm::raw_ostream* lines = nullptr;  // receives a line for each tensor; null: none
  // The lines are a table, not JSON. If they have full health, one of sums by layer follows.
  bool as_table = false;
  std::string logdir;  // debug folder to create; empty: none
  int64_t circular_buffer_size = 1000;
  uint64_t most_bytes = 0;   // maximal number of bytes to write; 0: no limit
  bool counts_each = false;  // true: counts the events of each tensor, for a report
  bool says_run = false;     // events contain the number of their run
  std::string signature;     // names of the filter may be its keys; empty: the default one
  std::string model;         // as typed; gives the folder's source file its name
  ThreadPool* pool = nullptr;
};

// Replaces names in the filter that are not those of nodes, such as layers, by the nodes that they
// mean (lib/job/name_resolver.h). Errors, which begin with `flag`: a name of nothing; an ambiguous
// name.
Error ResolveTaps(const OpenedGraph& opened, llvm::StringRef signature, TapFilter* filter,
                  const char* flag = "--tap");

// Returns the writer of the request's lines.
std::unique_ptr<TapText> TextOfTaps(const TapRequest& request);
// Makes the events of `tap` have what the request's lines show.
void Prepare(Tap& tap, const TapRequest& request);

// Returns the options for a debug folder; warns on `sink` about modes that TensorBoard cannot show.
DebugWriterOptions LogdirOptions(const TapRequest& request, const MessageSink& sink);
// Called after the run: reports how many tensors were not written because of `most_bytes`.
void ReportOmitted(int64_t left_out, uint64_t most_bytes, const MessageSink& sink);

// Must be created before the RunPlan and outlive it. Everything that the request and the graph
// point to outlives this object.
class RunTaps : public StepHook {
 public:
  // Errors: a name that matches nothing; a folder that cannot be written. `sink` receives warnings,
  // such as about limits that were reached.
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
  llvm::raw_ostream* os_ = nullptr;        // of lines_
  std::unique_ptr<LayerHealth> by_layer_;  // null: no table of layers follows the lines
  std::unique_ptr<TapText> lines_;
  std::unique_ptr<DebugWriter> logdir_;
  std::unique_ptr<WrittenTap> tap_;  // last: its thread writes to the members above
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_TAPS_H_
