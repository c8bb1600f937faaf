// A thread that writes tap events, so that the threads that compute do not have to.
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

// Writes events one at a time, in the order in which they were added. Thread-safe.
class GRAPNEL_PUBLIC TapWriter {
 public:
  using Write = std::function<void(const TapEvent&)>;
  // The most bytes that may wait to be written. A single event may be larger.
  static constexpr size_t kMostWaiting = 64 << 20;

  explicit TapWriter(Write write, size_t most_waiting = kMostWaiting);
  ~TapWriter();  // drains

  // Blocks while too many bytes wait to be written. Cost: about 50 ns.
  void Add(TapEvent event);
  // Returns when all events added so far are written.
  void Drain();
  // The total time that calls of Add() have blocked, on all threads.
  std::chrono::nanoseconds waited();

 private:
  void WriteAll();

  const Write write_;
  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable has_events_, has_room_, is_drained_;
  std::vector<TapEvent> events_;  // not yet taken by the thread
  size_t bytes_ = 0;              // of all unwritten events
  bool is_writing_ = false, wakes_ = false, ends_ = false;
  std::chrono::nanoseconds waited_{0};
  std::thread thread_;  // started by the first event
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_WRITER_H_
