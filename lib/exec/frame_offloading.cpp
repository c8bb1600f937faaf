// Kernels that helper threads run. Meanwhile the leader (the thread that schedules the run) runs
// other nodes; when a kernel has finished, the leader sends the outputs to their readers.
#include "lib/exec/frame_state.h"

namespace grapnel {

// Returns false if the node must run on this thread now. Returns true if a helper runs the kernel,
// or if the instance (the node in one iteration) must wait because the node runs, or is queued, for
// an earlier iteration.
bool FrameRunner::State::Offload(Instance instance) {
  Turns& turns = turns_[instance.node];
  bool is_free = !turns.is_offloaded && !turns.next;
  // The common case: the caller runs the kernel.
  if (is_free && (ready_.empty() || !client_.IsLong(instance.node))) return false;
  const Item& item = plan_.items[instance.node];
  if (turns.next == instance.iteration) {
    turns.next = nullptr;
  } else if (turns.is_offloaded || turns.next) {
    turns.waiting.push_back(instance.iteration);
    return true;
  }
  if (ready_.empty() || instance.iteration->nodes[item.local].is_dead ||
      !client_.IsLong(instance.node))
    return false;
  turns.is_offloaded = true;
  FillGiven(instance.node, instance.iteration);
  if (idle_calls_.empty()) {
    calls_.push_back(std::make_unique<Call>());
    idle_calls_.push_back(calls_.back().get());
  }
  Call* call = idle_calls_.back();
  idle_calls_.pop_back();
  call->instance = instance;
  call->outputs.resize(item.num_outputs);
  offloaded_.Start(call);
  return true;
}

void FrameRunner::State::RunCall(Call* call) {
  call->error = client_.RunKernel(call->instance.node, InputsOf(call->instance), call->outputs);
}

// Queues the node for the iteration that has waited longest, if any, now that the node is free.
void FrameRunner::State::QueueNextTurn(uint32_t id) {
  Turns& turns = turns_[id];
  if (turns.waiting.empty()) return;
  turns.next = turns.waiting.front();
  turns.waiting.erase(turns.waiting.begin());
  ready_.Push({id, turns.next});
}

// Sends the outputs of an offloaded kernel to their readers, after a helper or the leader has run
// it; returns the kernel's error if it failed.
Error FrameRunner::State::Complete(Call* call) {
  Instance instance = call->instance;
  turns_[instance.node].is_offloaded = false;
  QueueNextTurn(instance.node);
  idle_calls_.push_back(call);
  if (call->error) return InIteration(*instance.iteration, std::move(call->error));
  ClearInputs(plan_.items[instance.node], instance.iteration);
  SendAll(instance.node, call->outputs, instance.iteration);
  Finished(instance.iteration);
  return Error::success();
}

// Completes all kernel calls; if several of them fail, returns the first error.
Error FrameRunner::State::CompleteAll(llvm::ArrayRef<OffloadedKernels::Call*> calls) {
  Error first = Error::success();
  for (OffloadedKernels::Call* call : calls) {
    Error error = Complete(static_cast<Call*>(call));
    if (first)
      llvm::consumeError(std::move(error));
    else
      first = std::move(error);
  }
  return first;
}

}  // namespace grapnel
