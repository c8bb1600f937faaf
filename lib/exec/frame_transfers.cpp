// Sends and receives between partitions. They never block a thread: a _Recv or a collective whose
// value has not arrived, and a _Send whose window is full, are set aside until the rendezvous has
// news.
#include "lib/exec/frame_state.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Removes and returns the first element for which `fits` is true; nullopt if there is no such
// element.
template <typename T, typename Fits>
std::optional<T> TakeFirst(std::vector<T>& list, Fits fits) {
  auto at = llvm::find_if(list, fits);
  if (at == list.end()) return std::nullopt;
  T taken = std::move(*at);
  list.erase(at);
  return taken;
}

void Acknowledge(const Message& message) {
  if (!message.window) return;
  --message.window->num_unreceived;
  if (message.window->sender->wants_notifications()) message.window->sender->Notify();
}

}  // namespace

bool FrameRunner::State::IsFrom(const Message& message, const Iteration* iteration) {
  for (int64_t number : message.iterations) {
    if (iteration->number != number) return false;
    iteration = iteration->frame->parent;
  }
  return true;
}

llvm::SmallVector<int64_t, 3> FrameRunner::State::IterationsOf(const Iteration* iteration) {
  llvm::SmallVector<int64_t, 3> iterations;
  for (; iteration->frame->parent; iteration = iteration->frame->parent)
    iterations.push_back(iteration->number);
  return iterations;
}

// Runs a _Send, _Recv or collective node in one iteration. Returns false if the node must wait and
// was set aside.
Expected<bool> FrameRunner::State::Transfer(Instance instance) {
  const Item& item = plan_.items[instance.node];
  if (item.kind == FlowKind::kSend) return SendMessage(instance);
  if (item.kind == FlowKind::kCollective) return Join(instance);
  Receiver& receiver = receivers_[item.transfer];
  auto early = TakeFirst(
      receiver.early, [&](const Message& message) { return IsFrom(message, instance.iteration); });
  if (!early) {
    receiver.waiting.push_back(instance.iteration);
    return false;
  }
  RETURN_IF_ERROR(Receive(instance, std::move(*early)));
  return true;
}

Expected<bool> FrameRunner::State::SendMessage(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Iteration* iteration = instance.iteration;
  Message message;
  if (iteration->frame->parent) {
    message.window = &iteration->frame->windows[item.transfer];
    int64_t most = plan_.frames[iteration->frame->kind].max_iterations;
    if (message.window->num_unreceived >= most) {
      // Request notifications before checking the window again: a receiver that takes a message in
      // between either sees the request, or this thread sees the free window.
      rendezvous_.WantNotifications(true);
      if (message.window->num_unreceived >= most) {
        held_sends_.push_back(instance);
        return false;
      }
    }
    ++message.window->num_unreceived;
  }
  message.iterations = IterationsOf(iteration);
  const Arrivals& arrivals = iteration->nodes[item.local];
  bool is_dead = arrivals.is_dead;
  if (!is_dead) {
    if (item.given.begin != item.given.end) FillGiven(instance.node, iteration);
    message.value = std::move(iteration->cells[item.first_cell]);
    if (item.is_watched) {
      if (Error error = client_.Passed(instance.node, message.value, {}))
        return InIteration(*iteration, std::move(error));
    }
  }
  SendWindow* window = message.window;
  if (!client_.Send(instance.node, std::move(message)) && window) --window->num_unreceived;
  ClearInputs(item, iteration);
  SendControls(item, is_dead, iteration);
  return true;
}

// A dead member does not join its group, as in TensorFlow: if other members have joined, the run
// fails with an error about the incomplete group.
Expected<bool> FrameRunner::State::Join(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Iteration* iteration = instance.iteration;
  if (iteration->nodes[item.local].is_dead) {
    PassDead(instance);
    return true;
  }
  if (item.given.begin != item.given.end) FillGiven(instance.node, iteration);
  receivers_[item.transfer].waiting.push_back(iteration);
  Message answer;
  answer.to = instance.node;
  answer.iterations = IterationsOf(iteration);
  if (Error error = client_.Join(instance.node, InputsOf(instance), std::move(answer)))
    return InIteration(*iteration, std::move(error));
  ClearInputs(item, iteration);
  return false;
}

Error FrameRunner::State::Receive(Instance instance, Message message) {
  const Item& item = plan_.items[instance.node];
  Acknowledge(message);
  if (message.value && item.is_watched) {
    if (Error error = client_.Passed(instance.node, {}, message.value))
      return InIteration(*instance.iteration, std::move(error));
  }
  SendInto(instance.node, message.value, instance.iteration);
  return Error::success();
}

Error FrameRunner::State::ReceiveMessages() {
  rendezvous_.Receive(&messages_);
  for (Message& message : messages_) {
    Receiver& receiver = receivers_[plan_.items[message.to].transfer];
    auto iteration =
        TakeFirst(receiver.waiting, [&](const Iteration* waits) { return IsFrom(message, waits); });
    if (!iteration) {
      receiver.early.push_back(std::move(message));
      continue;
    }
    Instance instance = {message.to, *iteration};
    RETURN_IF_ERROR(Receive(instance, std::move(message)));
    Finished(instance.iteration);
  }
  messages_.clear();
  rendezvous_.WantNotifications(false);
  for (Instance instance : held_sends_) ready_.Push(instance);
  held_sends_.clear();
  return Error::success();
}

Error FrameRunner::State::FindStuck(int rank) {
  auto stuck = [&](uint32_t id, const Iteration& iteration) {
    return client_.StuckRank(id) == rank ? InIteration(iteration, client_.WhyStuck(id))
                                         : Error::success();
  };
  for (const Receiver& receiver : receivers_) {
    if (!receiver.waiting.empty()) RETURN_IF_ERROR(stuck(receiver.node, *receiver.waiting.front()));
  }
  if (held_sends_.empty()) return Error::success();
  return stuck(held_sends_.front().node, *held_sends_.front().iteration);
}

void FrameRunner::State::ClearTransfers() {
  for (Receiver& receiver : receivers_) {
    receiver.waiting.clear();
    receiver.early.clear();
  }
  messages_.clear();
  held_sends_.clear();
  rendezvous_.Clear();
  for (auto& frame : frames_) {
    if (frame->kind == 0) continue;
    for (uint32_t i = 0; i < plan_.frames[frame->kind].num_sends; ++i)
      frame->windows[i].num_unreceived = 0;
  }
}

}  // namespace grapnel
