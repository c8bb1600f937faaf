// The message queue of a partition: values that other partitions send wait here until this
// partition receives them.
#ifndef GRAPNEL_LIB_EXEC_RENDEZVOUS_H_
#define GRAPNEL_LIB_EXEC_RENDEZVOUS_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

class Rendezvous;

// The number of messages of one _Send that have not been received yet. Starts at 0 each time the
// loop around the _Send is entered. A _Send outside of loops has no window.
struct SendWindow {
  std::atomic<int32_t> num_unreceived{0};
  Rendezvous* sender = nullptr;  // notified when the number falls
};

// A value in transit from a _Send to a _Recv, or the result of a collective on its way to a member.
struct Message {
  uint32_t to = 0;  // the receiving node: its index in its partition's plan
  Tensor value;     // empty: a dead tensor
  // The iteration of each loop around the sender, the innermost loop first. The receiving node
  // takes the value in the same iteration.
  llvm::SmallVector<int64_t, 3> iterations;
  SendWindow* window = nullptr;  // null: no _Send, or one outside of loops
};

// The receiving end of one partition in one run. Any thread may send; the thread that runs the
// partition receives.
class Rendezvous {
 public:
  // Sets the callback that wakes the partition. It is called, on any thread, for the first news
  // after the partition has received all messages. Call OnNews before the first run.
  void OnNews(std::function<void()> wake) { wake_ = std::move(wake); }

  void Send(Message message);
  // Notifies the partition without a message: something that it waits for may have changed.
  void Notify();
  // Tells this partition to stop, because another one has failed.
  void Stop();

  // --- For the receiving partition.
  bool HasNews() const { return has_news_.load(std::memory_order_relaxed); }
  // Moves the messages to `messages`, in the order in which they were sent.
  void Receive(std::vector<Message>* messages);
  bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }
  // Set to true while the partition wants a Notify() when a message that it sent is received,
  // because one of its sends waits for room in its window.
  void WantNotifications(bool wants) { wants_notifications_.store(wants); }
  bool wants_notifications() const { return wants_notifications_.load(); }
  // Resets to the state before the first run.
  void Clear();

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Message> messages_;
  std::atomic<bool> has_news_{false}, is_stopped_{false}, wants_notifications_{false};
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_RENDEZVOUS_H_
