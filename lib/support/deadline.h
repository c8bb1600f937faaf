// Work that may take so long and no longer.
#ifndef GRAPNEL_LIB_SUPPORT_DEADLINE_H_
#define GRAPNEL_LIB_SUPPORT_DEADLINE_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "lib/support/cancel.h"

namespace grapnel {

// "not done after 5 s".
std::string NotDoneText(double seconds);

// From when it is made, on a thread of its own: sets `flag` after `seconds`, and calls `give_up`
// where the work has not ended (the deadline is still there) a second later. Does nothing if it
// goes before; 0 seconds: never. `flag` outlives it.
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
