// The values computed by a debugged run, within a memory budget.
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
  int64_t number = 0;      // counts this port's values in this run, from 0
  int64_t step = 0;        // the step that made it; 0: before the first node
  int64_t iteration = -1;  // of the innermost loop; -1: not in a loop
  Tensor value;
};

// Values are kept without copying, so their buffers are not reused. When they exceed the budget the
// oldest are dropped; constants and feeds, which are in memory anyway, do not count.
class ValueHistory {
 public:
  explicit ValueHistory(int64_t budget) : budget_(budget) {}

  void Add(KeptValue value, bool is_free);
  // Replaces the port's last value, which is still kept.
  void ReplaceLast(const WatchedPort& port, Tensor value);
  void Clear();

  // In the order in which they were computed.
  const std::deque<KeptValue>& all() const { return values_; }
  // Returns how many values the port has had, including dropped ones.
  int64_t Count(const WatchedPort& port) const;
  // Returns value `number` of the port, or the last for -1. Null: it was never computed, or was
  // dropped (see Count).
  const KeptValue* Find(const WatchedPort& port, int64_t number = -1) const;
  int64_t num_dropped() const { return first_; }
  int64_t budget() const { return budget_; }

 private:
  struct Places {
    int64_t count = 0;
    std::deque<int64_t> kept;  // indices of values among all values ever added
  };
  int64_t budget_, bytes_ = 0, first_ = 0;  // values_[i] has index first_ + i
  std::deque<KeptValue> values_;
  std::deque<int64_t> sizes_;
  std::map<WatchedPort, Places> ports_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_VALUE_HISTORY_H_
