// The thread that writes what taps saw, so that those that compute do not.
#ifndef GRAPNEL_LIB_WATCH_TAP_WRITER_H_
#define GRAPNEL_LIB_WATCH_TAP_WRITER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/support/public.h"
#include "lib/watch/tap_event.h"

namespace grapnel {

// Thread-safe. Events are written in the order in which they were added, one at a time.
class GRAPNEL_PUBLIC TapWriter {
 public:
  using Write = std::function<void(const TapEvent&)>;
  // What may wait to be written, in bytes. An event alone may be larger.
  static constexpr size_t kMostWaiting = 64 << 20;

  explicit TapWriter(Write write, size_t most_waiting = kMostWaiting);
  ~TapWriter();  // drains

  // Waits where too much waits to be written. Cost: some 50 ns.
  void Add(TapEvent event);
  // Returns when all that was added is written.
  void Drain();
  // How long Add() has waited, of all threads together.
  std::chrono::nanoseconds waited();

 private:
  void WriteAll();

  const Write write_;
  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable has_events_, has_room_, is_drained_;
  std::vector<TapEvent> events_;  // those that the thread has not taken
  size_t bytes_ = 0;              // of all that are not written
  bool is_writing_ = false, wakes_ = false, ends_ = false;
  std::chrono::nanoseconds waited_{0};
  std::thread thread_;  // begun with the first event
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_WRITER_H_
