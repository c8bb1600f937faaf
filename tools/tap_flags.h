// Flags of `run` that say what is tapped, and where it goes.
#ifndef GRAPNEL_TOOLS_TAP_FLAGS_H_
#define GRAPNEL_TOOLS_TAP_FLAGS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/job/run_taps.h"
#include "lib/support/file.h"
#include "tools/command_line.h"

namespace grapnel {

struct TapFlags {
  std::vector<std::string> names, ops, functions, dtypes;
  std::string mode = "FULL_HEALTH", file, logdir, report, most_bytes;
  int circular_buffer_size = 1000;

  void AddTo(CommandLine& line);
  // Files that are written, for what refuses two graphs that write one.
  std::vector<llvm::StringRef> outputs() const { return {file, report}; }
  bool any() const {
    return !logdir.empty() || !report.empty() || !names.empty() || !ops.empty() ||
           !functions.empty() || !dtypes.empty();
  }
  // Errors: a flag that says how, where no other says what.
  Error CheckCombination() const;
  // What they say, but for where lines go, the model and threads. Errors: a pattern, a size.
  Expected<TapRequest> Request() const;
  bool writes_lines_to_stdout() const { return any() && file.empty() && logdir.empty(); }
};

// The taps of one run with their files. Nothing where no flag asks for a tap.
class TappedRun {
 public:
  static Expected<TappedRun> Begin(const TapFlags& flags, const std::string& model,
                                   const OpenedGraph& opened, bool says_run, ThreadPool& pool,
                                   llvm::raw_ostream& out, const MessageSink& sink);
  StepHook* hook() { return taps_.get(); }  // null: nothing is tapped
  // Files appear. Also after a run that failed. `fed`: the tensors that were given.
  Error Close(const OpenedGraph& opened, llvm::ArrayRef<std::string> fed);

 private:
  std::unique_ptr<AtomicFile> lines_, report_;
  std::unique_ptr<RunTaps> taps_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TAP_FLAGS_H_
