// A hook that says in which order nodes run.
#ifndef GRAPNEL_LIB_EXEC_ORDERING_HOOK_H_
#define GRAPNEL_LIB_EXEC_ORDERING_HOOK_H_

#include "lib/exec/executor.h"

namespace grapnel {

// Where it is a run's hook, nodes run one after the other: of those that could run next the one of
// the least rank. In a graph with Switch, Merge or loops of single nodes they run as they become
// ready.
class OrderingHook : public RunHook {
 public:
  virtual int64_t Rank(const Node& node) const = 0;  // asked once a plan
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_ORDERING_HOOK_H_
