// A job: runs a case folder and compares the values of the fetches with the expected values.
#ifndef GRAPNEL_LIB_JOB_REPLAY_H_
#define GRAPNEL_LIB_JOB_REPLAY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/run.h"

namespace grapnel {

struct ReplayRequest {
  // Settings of the run. Leave its feeds and fetches empty: they come from the case. Recording
  // `taps` replaces its hook.
  RunRequest run;
  // If set: first optimizes the graph with the default passes. The value is
  // OptimizeRequest::device.
  std::optional<std::string> optimize_for;
  std::vector<std::string> without;  // with optimize_for: see OptimizeOptions
  int repeat = 1;  // more than 1: also does this many timed runs, on feeds that vary slightly
  std::vector<Glob> taps;
  TapMode tap_mode = TapMode::kFullHealth;
  bool demands_taps = true;          // whether every name in `taps` must exist
  std::optional<double> rtol, atol;  // for ReplayOn: override the case's tolerances
};

struct Replayed {
  // kUnsupported: grapnel lacks a kernel for a node of the case. kError: the case cannot run for
  // another reason.
  enum Status { kPass, kFail, kUnsupported, kError };
  Status status = kPass;
  std::string message;   // the reason; set unless the status is kPass
  std::string fetch;     // for kFail: the first fetch that differs
  double median_ms = 0;  // median time of the timed runs
  double max_error = 0;  // largest |got - expected| of all fetches
  int64_t taps = 0;      // number of tapped tensors
};

// Replays one case. Never fails: errors become the status.
Replayed Replay(llvm::StringRef path, const ReplayRequest& request);

// Like Replay, but runs `model` on the case's values.
Replayed ReplayOn(const OpenedGraph& model, llvm::StringRef path, const ReplayRequest& request);

// Returns "pass", "fail", "unsupported" or "error".
const char* StatusName(Replayed::Status status);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_REPLAY_H_
