// Records the values of a program's ops in eager mode and writes them.
#ifndef GRAPNEL_LIB_JOB_EAGER_TAPS_H_
#define GRAPNEL_LIB_JOB_EAGER_TAPS_H_

#include <memory>

#include "lib/job/run_taps.h"
#include "lib/trace/eager.h"

namespace grapnel {

// Like RunTaps, but for ops that run as the program calls them. Writes lines, or a debug folder in
// which each op is an execution and the nodes of called functions are graph execution traces.
class EagerTaps {
 public:
  EagerTaps(TapRequest request, MessageSink sink);
  RunHook* hook() { return tap_.get(); }  // to pass in EagerOptions

  // Called before the first op of `t`, which outlives this object. Errors: the folder cannot be
  // written.
  Error Begin(Tracer& t);
  // Called after the last op.
  Error End(bool has_failed);

 private:
  TapRequest request_;
  MessageSink sink_;
  std::unique_ptr<TapText> lines_;
  std::unique_ptr<DebugWriter> logdir_;
  std::unique_ptr<Tap> tap_;
  EagerDebugTap* debug_tap_ = nullptr;  // the same object as tap_ if it writes a folder, else null
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_EAGER_TAPS_H_
