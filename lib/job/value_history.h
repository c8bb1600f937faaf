// The values that a debugged run has made, within a budget of memory.
#ifndef GRAPNEL_LIB_JOB_VALUE_HISTORY_H_
#define GRAPNEL_LIB_JOB_VALUE_HISTORY_H_

#include <deque>
#include <map>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/job/run_watch.h"

namespace grapnel {

struct KeptValue {
  WatchedPort port;
  int64_t number = 0;      // from 0, of those of this port in this run
  int64_t step = 0;        // in which it was made; 0: before the first node
  int64_t iteration = -1;  // of the innermost loop; -1: of none
  Tensor value;
};

// Values are kept as they are, which keeps their buffers from being reused. When they take more
// than the budget the oldest go; constants and feeds, which are in memory anyway, take none of it.
class ValueHistory {
 public:
  explicit ValueHistory(int64_t budget) : budget_(budget) {}

  void Add(KeptValue value, bool is_free);
  // Puts another tensor in the place of the port's last value, which is kept.
  void ReplaceLast(const WatchedPort& port, Tensor value);
  void Clear();

  // In the order in which they were made.
  const std::deque<KeptValue>& all() const { return values_; }
  // How many the port has had, those that went included.
  int64_t Count(const WatchedPort& port) const;
  // Value `number` of the port, or the last for -1. Null: it was never made, or it went (Count
  // tells).
  const KeptValue* Find(const WatchedPort& port, int64_t number = -1) const;
  int64_t num_dropped() const { return first_; }
  int64_t budget() const { return budget_; }

 private:
  struct Places {
    int64_t count = 0;
    std::deque<int64_t> kept;  // numbers of values, counted over all that were ever added
  };
  int64_t budget_, bytes_ = 0, first_ = 0;  // values_[i] is number first_ + i
  std::deque<KeptValue> values_;
  std::deque<int64_t> sizes_;
  std::map<WatchedPort, Places> ports_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_VALUE_HISTORY_H_
