// A hook that determines the order in which nodes run.
#ifndef GRAPNEL_LIB_EXEC_ORDERING_HOOK_H_
#define GRAPNEL_LIB_EXEC_ORDERING_HOOK_H_

#include "lib/exec/executor.h"

namespace grapnel {

// If a run's hook is an OrderingHook, nodes run one after the other: the next is always the ready
// node of lowest rank. In a graph with Switch, Merge, loops of single nodes (Enter, NextIteration,
// Exit), sends, receives or collectives, ranks have no effect: nodes run as they become ready.
class OrderingHook : public RunHook {
 public:
  virtual int64_t Rank(const Node& node) const = 0;  // called when a plan is made
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_ORDERING_HOOK_H_
