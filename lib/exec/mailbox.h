// Where values come in from other parts of a graph that run side by side.
#ifndef GRAPNEL_LIB_EXEC_MAILBOX_H_
#define GRAPNEL_LIB_EXEC_MAILBOX_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

class Mailbox;

// Of one sender in one turn of its loop: how much of what it sent nobody has taken yet.
struct Receipt {
  std::atomic<int32_t> unread{0};
  Mailbox* sender = nullptr;  // to be told when it gets less
};

struct Parcel {
  uint32_t to = 0;  // a node of the part that the mailbox is of
  Tensor value;     // empty: dead
  // The iteration it is from, of each loop that it is in, the innermost first.
  llvm::SmallVector<int64_t, 3> rounds;
  Receipt* receipt = nullptr;  // null: the sender does not count
};

// One a part. Any thread puts in; the part's takes out.
class Mailbox {
 public:
  // `wake`: called when there is news for a part that has taken in all it had; from any thread.
  void OnNews(std::function<void()> wake) { wake_ = std::move(wake); }

  void Put(Parcel parcel);
  // A word without a value: something that the part waits for may have changed.
  void Nudge();
  // The run is over for this part, because another has failed.
  void Stop();

  // --- For the part.
  bool HasNews() const { return has_news_.load(std::memory_order_relaxed); }
  // Moves what came to `parcels`, in the order it came.
  void Take(std::vector<Parcel>* parcels);
  bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }
  // Whether senders that counted on it are to nudge it.
  void WantNudges(bool wants) { wants_nudges_.store(wants); }
  bool wants_nudges() const { return wants_nudges_.load(); }
  void Clear();

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Parcel> parcels_;
  std::atomic<bool> has_news_{false}, is_stopped_{false}, wants_nudges_{false};
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_MAILBOX_H_
