#include "lib/watch/tap_event.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool AreCurrent(llvm::ArrayRef<TapCall> calls) {
  const CallFrame* frame = CurrentCall();
  for (const TapCall& call : llvm::reverse(calls)) {
    if (!frame || !call.Is(*frame)) return false;
    frame = frame->outer;
  }
  return !frame;
}

}  // namespace

bool TapCall::Is(const CallFrame& frame) const {
  return function == frame.function && iteration == frame.iteration && loop == frame.loop &&
         caller == (frame.caller ? *frame.caller : Node());
}

TapCalls CurrentTapCalls() {
  if (!CurrentCall()) return nullptr;
  static thread_local TapCalls last;
  if (last && AreCurrent(*last)) return last;
  auto calls = std::make_shared<std::vector<TapCall>>();
  for (const CallFrame* frame = CurrentCall(); frame; frame = frame->outer)
    calls->push_back({frame->function, frame->caller ? *frame->caller : Node(), frame->loop.str(),
                      frame->iteration});
  std::reverse(calls->begin(), calls->end());
  return last = std::move(calls);
}

}  // namespace grapnel
