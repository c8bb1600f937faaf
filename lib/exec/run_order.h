// Brings what several threads event of one run into the order in which one thread would event it.
#ifndef GRAPNEL_LIB_EXEC_RUN_ORDER_H_
#define GRAPNEL_LIB_EXEC_RUN_ORDER_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "llvm/ADT/FunctionExtras.h"

namespace grapnel {

class RunOrder;

// Where in the order this thread is: the node that it runs, of a plan whose nodes are shared among
// threads. Null: what it tells now is in order by itself.
struct OrderPoint {
  RunOrder* order = nullptr;
  uint32_t position = 0;
};
OrderPoint CurrentOrderPoint();

// Until it ends this thread is there.
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

// Calls `event` when all that stands before in the order has been told: at once, or later on the
// thread that ends the last node before. What is told runs under a lock of its run: it must not run
// nodes. It may wait for another thread that does not.
void EmitInOrder(OrderedEvent event);

// The order of one plan, which its nodes have by their positions.
class RunOrder {
 public:
  // `outer`: where the thread is that runs the plan, whose order this one is part of.
  void Begin(size_t positions, OrderPoint outer);
  void Emit(uint32_t position, OrderedEvent event);
  void Done(uint32_t position);  // the node there has ended
  // The run is over, or has failed: what is held back is told.
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
