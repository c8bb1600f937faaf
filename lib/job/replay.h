// A job: a case folder is run, and what it gives is compared with what it expects.
#ifndef GRAPNEL_LIB_JOB_REPLAY_H_
#define GRAPNEL_LIB_JOB_REPLAY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/run.h"

namespace grapnel {

struct ReplayRequest {
  // All but feeds and fetches, which are the case's, and `hook`, where the taps go.
  RunRequest run;
  // Set: optimized first with the default passes, this the device for nodes without one.
  std::optional<std::string> optimize_for;
  int repeat = 1;  // more than 1: run so often more, on feeds that differ a little, and timed
  std::vector<Glob> taps;
  TapMode tap_mode = TapMode::kFullHealth;
  bool demands_taps = true;          // whether a name among `taps` must be there
  std::optional<double> rtol, atol;  // instead of the case's own; of ReplayOn
};

struct Replayed {
  // kUnsupported: grapnel has no kernel for a node of it. kError: it cannot be run for another
  // reason.
  enum Status { kPass, kFail, kUnsupported, kError };
  Status status = kPass;
  std::string message;   // why it did not pass
  std::string fetch;     // of kFail: the first that differs
  double median_ms = 0;  // of the repeats
  double max_error = 0;  // largest |got - expected| of all fetches
  int64_t taps = 0;      // tensors tapped
};

// Replays one case. Never fails: what goes wrong is its status.
Replayed Replay(llvm::StringRef path, const ReplayRequest& request);

// The same with the case's values and another model.
Replayed ReplayOn(const OpenedGraph& model, llvm::StringRef path, const ReplayRequest& request);

// "pass", "fail", "unsupported", "error".
const char* StatusName(Replayed::Status status);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_REPLAY_H_
