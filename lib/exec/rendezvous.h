// Where a partition of a graph meets the others: values that they send it wait here until it
// receives them.
#ifndef GRAPNEL_LIB_EXEC_RENDEZVOUS_H_
#define GRAPNEL_LIB_EXEC_RENDEZVOUS_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

class Rendezvous;

// How many messages of one _Send have not been received yet. Counted anew each time that the loop
// around the _Send is entered, and not at all outside of loops.
struct SendWindow {
  std::atomic<int32_t> num_unreceived{0};
  Rendezvous* sender = nullptr;  // notified when the number falls
};

// A value on its way from a _Send to a _Recv.
struct Message {
  uint32_t to = 0;  // the _Recv, by its number in the plan of the receiving partition
  Tensor value;     // empty: a dead tensor
  // The iteration of each loop that the sender is in, of the innermost loop first. The _Recv takes
  // it in the same iteration.
  llvm::SmallVector<int64_t, 3> iterations;
  SendWindow* window = nullptr;  // null: the sender does not count
};

// The receiving end of one partition in one run. Any thread sends; the thread that runs the
// partition receives.
class Rendezvous {
 public:
  // Called on any thread when there is news for a partition that has received all before. Set
  // before the first run.
  void OnNews(std::function<void()> wake) { wake_ = std::move(wake); }

  void Send(Message message);
  // News without a message: something that the partition waits for may have changed.
  void Notify();
  // Another partition has failed: this one is to stop.
  void Stop();

  // --- For the partition that receives.
  bool HasNews() const { return has_news_.load(std::memory_order_relaxed); }
  // Moves the messages to `messages`, in the order in which they were sent.
  void Receive(std::vector<Message>* messages);
  bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }
  // Whether the partition wants a Notify() when messages that it sent are received: one of its
  // sends waits for room in its window.
  void WantNotifications(bool wants) { wants_notifications_.store(wants); }
  bool wants_notifications() const { return wants_notifications_.load(); }
  // As before the first run.
  void Clear();

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Message> messages_;
  std::atomic<bool> has_news_{false}, is_stopped_{false}, wants_notifications_{false};
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_RENDEZVOUS_H_
