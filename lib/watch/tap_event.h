// What a tap saw of one tensor, on its way from the thread that made it to where it is written.
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

// A CallFrame that outlives the call.
struct GRAPNEL_PUBLIC TapCall {
  const Function* function = nullptr;  // null: an iteration of a loop of single nodes
  Node caller;                         // none, as CallFrame has none
  std::string loop;
  int64_t iteration = -1;
  bool Is(const CallFrame& frame) const;
};
// Outermost first; null: in the graph that is run. Events of one call share it.
using TapCalls = std::shared_ptr<const std::vector<TapCall>>;

// Where this thread is now. Cheap while it stays in one call.
GRAPNEL_PUBLIC TapCalls CurrentTapCalls();

struct GRAPNEL_PUBLIC TapEvent {
  Node node;
  int output = 0;
  int run = 0;      // of several; 0: there is one
  double time = 0;  // seconds since 1970, where the tap wants it
  DataType dtype = proto::DT_INVALID;
  llvm::SmallVector<int64_t, 4> dims;  // not in NO_TENSOR
  Health health;                       // in the modes that count
  TapCalls calls;
  Tensor value;      // FULL_TENSOR, of numbers and strings: shares the tensor's buffer
  std::string text;  // FULL_TENSOR, of resources and variants
  // Memory that waits with it.
  size_t Bytes() const {
    return sizeof(TapEvent) + text.size() + (value ? value.buffer()->size() : 0);
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_EVENT_H_
