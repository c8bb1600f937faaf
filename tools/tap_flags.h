// Flags of `run` that select which tensors are tapped, and where the output goes.
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
  // The output files, to detect that two graphs would write the same file.
  std::vector<llvm::StringRef> outputs() const { return {file, report}; }
  bool any() const {
    return !logdir.empty() || !report.empty() || !names.empty() || !ops.empty() ||
           !functions.empty() || !dtypes.empty();
  }
  // Errors: a flag that sets how to tap, without a flag that selects what to tap; --tap-bytes with
  // a circular buffer.
  Error CheckCombination() const;
  // Returns a request with the taps that the flags describe. The stream for lines, the model, the
  // pool and says_run are not set. Errors: a malformed pattern or size; --logdir together with
  // --tap-file.
  Expected<TapRequest> Request() const;
  // True if taps go to standard output: as a table, or as lines of JSON with --tap-file -.
  bool writes_to_stdout() const { return any() && logdir.empty() && (file.empty() || file == "-"); }
};

// The taps of one run and their files. Does nothing if no flag requests a tap.
class TappedRun {
 public:
  static Expected<TappedRun> Begin(const TapFlags& flags, const std::string& model,
                                   const OpenedGraph& opened, const std::string& signature,
                                   bool says_run, ThreadPool& pool, llvm::raw_ostream& out,
                                   const MessageSink& sink);
  StepHook* hook() { return taps_.get(); }  // null if nothing is tapped
  // Completes the files, also after a failed run. `fed`: the names of the fed tensors.
  Error Close(const OpenedGraph& opened, llvm::ArrayRef<std::string> fed);

 private:
  std::unique_ptr<AtomicFile> lines_, report_;
  std::unique_ptr<RunTaps> taps_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TAP_FLAGS_H_
