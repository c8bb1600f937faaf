// Brings the events of a run on several threads into the order of a run on one thread.
#ifndef GRAPNEL_LIB_EXEC_RUN_ORDER_H_
#define GRAPNEL_LIB_EXEC_RUN_ORDER_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "llvm/ADT/FunctionExtras.h"

namespace grapnel {

class RunOrder;

// The position of this thread in the order: the node that it runs, in a plan whose nodes are shared
// among threads. Null: its events are in order already.
struct OrderPoint {
  RunOrder* order = nullptr;
  uint32_t position = 0;
};
OrderPoint CurrentOrderPoint();

// Puts this thread at a position for the duration of a scope.
class AtOrderPoint {
 public:
  explicit AtOrderPoint(OrderPoint point);
  ~AtOrderPoint();
  AtOrderPoint(const AtOrderPoint&) = delete;
  AtOrderPoint& operator=(const AtOrderPoint&) = delete;

 private:
  OrderPoint before_;
};

using OrderedEvent = llvm::unique_function<void()>;

// Calls `event` when all earlier events have been called: at once, or later on the thread that ends
// the last node before it. Events run under a lock of their run: they must not run nodes. They may
// wait for a thread that does not.
void EmitInOrder(OrderedEvent event);

// The order of one plan, whose nodes have positions.
class RunOrder {
 public:
  // `outer`: the position of the thread that runs the plan, whose order includes this one.
  void Begin(size_t positions, OrderPoint outer);
  void Emit(uint32_t position, OrderedEvent event);
  void Done(uint32_t position);  // the node there has ended
  // The run is over, or has failed: calls the events that are held back.
  void End();

 private:
  void Forward(OrderedEvent event);

  std::mutex mutex_;
  OrderPoint outer_;
  uint32_t next_ = 0;
  std::vector<bool> done_;
  std::vector<std::vector<OrderedEvent>> held_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_RUN_ORDER_H_
