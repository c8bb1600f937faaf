// A tap's event for one tensor. The thread that computed the tensor makes it. Tap::Emit receives
// the events in the order of the run.
#ifndef GRAPNEL_LIB_WATCH_TAP_EVENT_H_
#define GRAPNEL_LIB_WATCH_TAP_EVENT_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/exec/call_stack.h"
#include "lib/exec/tensor.h"
#include "lib/support/public.h"
#include "lib/watch/health.h"

namespace grapnel {

class NumberStatistics;  // lib/ir/number_statistics.h

// A copy of a CallFrame that outlives the call.
struct GRAPNEL_PUBLIC TapCall {
  const Function* function = nullptr;  // null: an iteration of a loop of single nodes
  Node caller;                         // null as in CallFrame: an iteration, or a dataset's call
  std::string loop;
  int64_t iteration = -1;
  bool Is(const CallFrame& frame) const;
};
// The calls around a node, outermost first; null for a node of the main graph outside of loops.
// Events in the same call share one list.
using TapCalls = std::shared_ptr<const std::vector<TapCall>>;

// Returns the current calls of this thread. Cheap as long as the thread stays in the same call.
GRAPNEL_PUBLIC TapCalls CurrentTapCalls();

struct GRAPNEL_PUBLIC TapEvent {
  Node node;
  int output = 0;
  int run = 0;      // number of the run; 0: there is only one run
  double time = 0;  // seconds since 1970, if Tap::TellsTime()
  DataType dtype = proto::DT_INVALID;
  llvm::SmallVector<int64_t, 4> dims;               // empty in mode NO_TENSOR
  Health health;                                    // set in the ..._HEALTH and THREE_SLOTS modes
  std::shared_ptr<const NumberStatistics> numbers;  // if the tap summarizes (Tap::Summarize)
  TapCalls calls;
  Tensor value;      // mode FULL_TENSOR, numbers and strings: shares the tensor's buffer
  std::string text;  // mode FULL_TENSOR, resources and variants: a description
  // Returns roughly how many bytes the event takes while it waits to be written.
  size_t Bytes() const {
    return sizeof(TapEvent) + text.size() + (value ? value.buffer()->size() : 0);
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_EVENT_H_
