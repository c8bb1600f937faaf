// The values computed by a debugged run, within a memory budget.
#ifndef GRAPNEL_LIB_DEBUGGER_VALUE_HISTORY_H_
#define GRAPNEL_LIB_DEBUGGER_VALUE_HISTORY_H_

#include <deque>
#include <map>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/job/run_watch.h"

namespace grapnel {

struct KeptValue {
  WatchedPort port;
  int64_t number = 0;  // index among this port's values in this run
  // The step that computed it or, for an argument, first read it; 0: before the first node.
  int64_t step = 0;
  int64_t iteration = -1;  // of the innermost loop; -1: not in a loop
  Tensor value;
};

// The kept values. Values are kept without copying, so kernels cannot reuse their buffers. When the
// values exceed the budget, the oldest are dropped; the elements of constants and feeds, which are
// in memory anyway, do not count.
class ValueHistory {
 public:
  explicit ValueHistory(int64_t budget) : budget_(budget) {}

  void Add(KeptValue value, bool is_free);
  // Replaces the port's last value, which must still be kept.
  void ReplaceLast(const WatchedPort& port, Tensor value);
  void Clear();

  // The kept values in the order in which they were computed.
  const std::deque<KeptValue>& all() const { return values_; }
  // Returns how many values the port has had, including dropped ones.
  int64_t Count(const WatchedPort& port) const;
  // Returns value `number` of the port, or the last value for -1. Null: the value was never
  // computed, or was dropped (see Count).
  const KeptValue* Find(const WatchedPort& port, int64_t number = -1) const;
  int64_t num_dropped() const { return first_; }
  int64_t budget() const { return budget_; }

 private:
  struct Places {
    int64_t count = 0;
    std::deque<int64_t> kept;  // of this port's kept values: index among all ever added
  };
  int64_t budget_, bytes_ = 0, first_ = 0;  // values_[i] has index first_ + i
  std::deque<KeptValue> values_;
  std::deque<int64_t> sizes_;
  std::map<WatchedPort, Places> ports_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_VALUE_HISTORY_H_
