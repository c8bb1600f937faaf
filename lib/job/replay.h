// A job: runs a case folder and compares the results with the expected ones.
#ifndef GRAPNEL_LIB_JOB_REPLAY_H_
#define GRAPNEL_LIB_JOB_REPLAY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/run.h"

namespace grapnel {

struct ReplayRequest {
  // Everything except feeds and fetches, which come from the case, and `hook`, which the taps use.
  RunRequest run;
  // If set: optimizes first with the default passes; the device for nodes without one.
  std::optional<std::string> optimize_for;
  int repeat = 1;  // more than 1: this many more, timed runs, on slightly different feeds
  std::vector<Glob> taps;
  TapMode tap_mode = TapMode::kFullHealth;
  bool demands_taps = true;          // whether every name in `taps` must exist
  std::optional<double> rtol, atol;  // override the case's own, for ReplayOn
};

struct Replayed {
  // kUnsupported: grapnel lacks a kernel for one of its nodes. kError: the case cannot run for
  // another reason.
  enum Status { kPass, kFail, kUnsupported, kError };
  Status status = kPass;
  std::string message;   // set unless it passed
  std::string fetch;     // for kFail: the first fetch that differs
  double median_ms = 0;  // of the repeated runs
  double max_error = 0;  // largest |got - expected| of all fetches
  int64_t taps = 0;      // tensors tapped
};

// Replays one case. Never fails: errors become its status.
Replayed Replay(llvm::StringRef path, const ReplayRequest& request);

// The same, with the case's values on another model.
Replayed ReplayOn(const OpenedGraph& model, llvm::StringRef path, const ReplayRequest& request);

// Returns "pass", "fail", "unsupported" or "error".
const char* StatusName(Replayed::Status status);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_REPLAY_H_
