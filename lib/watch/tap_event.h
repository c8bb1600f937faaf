// The report of a tap on one tensor, on its way from the computing thread to the writer.
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

// A copy of a CallFrame that outlives the call.
struct GRAPNEL_PUBLIC TapCall {
  const Function* function = nullptr;  // null: an iteration of a loop of single nodes
  Node caller;                         // null in the same cases as CallFrame::caller
  std::string loop;
  int64_t iteration = -1;
  bool Is(const CallFrame& frame) const;
};
// Outermost first; null: in the graph that is run. Events of one call share it.
using TapCalls = std::shared_ptr<const std::vector<TapCall>>;

// Returns the current calls of this thread. Cheap while it stays in one call.
GRAPNEL_PUBLIC TapCalls CurrentTapCalls();

struct GRAPNEL_PUBLIC TapEvent {
  Node node;
  int output = 0;
  int run = 0;      // of several; 0: there is only one
  double time = 0;  // seconds since 1970, if the tap wants it
  DataType dtype = proto::DT_INVALID;
  llvm::SmallVector<int64_t, 4> dims;  // not in NO_TENSOR
  Health health;                       // in the modes that count
  TapCalls calls;
  Tensor value;      // in FULL_TENSOR, numbers and strings: shares the tensor's buffer
  std::string text;  // in FULL_TENSOR, resources and variants
  // The memory that the event holds while it waits.
  size_t Bytes() const {
    return sizeof(TapEvent) + text.size() + (value ? value.buffer()->size() : 0);
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_EVENT_H_
