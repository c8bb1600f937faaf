// A time limit for a piece of work.
#ifndef GRAPNEL_LIB_SUPPORT_DEADLINE_H_
#define GRAPNEL_LIB_SUPPORT_DEADLINE_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "lib/support/cancel.h"

namespace grapnel {

// Returns the text "not done after 5 s".
std::string NotDoneText(double seconds);

// Starts a timer on its own thread. After `seconds`, it sets `flag`; if the work has still not
// ended (the Deadline still exists) one second later, it calls `give_up`. Destroying the Deadline
// earlier stops the timer. 0 seconds means no limit. `flag` must outlive the Deadline.
class Deadline {
 public:
  Deadline(double seconds, CancelFlag& flag, std::function<void()> give_up);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_DEADLINE_H_
