// The taps of a program in eager mode, and where what they see goes.
#ifndef GRAPNEL_LIB_JOB_EAGER_TAPS_H_
#define GRAPNEL_LIB_JOB_EAGER_TAPS_H_

#include <memory>

#include "lib/job/run_taps.h"
#include "lib/trace/eager.h"

namespace grapnel {

// As RunTaps, for ops that run as the program calls them: lines, or a folder of the debugger in
// which each op is an execution and what called functions made are traces.
class EagerTaps {
 public:
  EagerTaps(TapRequest request, MessageSink sink);
  RunHook* hook() { return tap_.get(); }  // for EagerOptions

  // Before the first op of `t`, which outlives it. Errors: a folder that cannot be written.
  Error Begin(Tracer& t);
  // After the last one.
  Error End(bool has_failed);

 private:
  TapRequest request_;
  MessageSink sink_;
  std::unique_ptr<TapLines> lines_;
  std::unique_ptr<DebugWriter> logdir_;
  std::unique_ptr<Tap> tap_;
  EagerDebugTap* debug_tap_ = nullptr;  // that tap, with a folder
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_EAGER_TAPS_H_
