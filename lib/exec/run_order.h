// Emits what hooks report of a run on several threads (tensors, summaries) in the order of a run on
// one thread.
#ifndef GRAPNEL_LIB_EXEC_RUN_ORDER_H_
#define GRAPNEL_LIB_EXEC_RUN_ORDER_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "llvm/ADT/FunctionExtras.h"

namespace grapnel {

class RunOrder;

// The position of a thread's events in the order of all events: the position of the node that the
// thread runs. `order` is null if no other thread runs nodes of the plan: the events are in order
// already.
struct OrderPoint {
  RunOrder* order = nullptr;
  uint32_t position = 0;
};
OrderPoint CurrentOrderPoint();

// Sets this thread's position while this object lives.
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
// the last node that precedes this one in the order. An event is called under a lock of its run: it
// must not run nodes, and may wait only for threads that run no node.
void EmitInOrder(OrderedEvent event);

// The order of events in a run of one plan, whose nodes have positions.
class RunOrder {
 public:
  // Begins a run. `outer` is the position of the thread that runs the plan: for the body of a
  // called function, that of the calling node in its own plan's order.
  void Begin(size_t positions, OrderPoint outer);
  void Emit(uint32_t position, OrderedEvent event);
  void Done(uint32_t position);  // the node at this position has ended
  // Ends the run, also after an error: calls the events that are held back.
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
