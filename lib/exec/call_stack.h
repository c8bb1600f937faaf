// Where in a run a thread is: in which functions, called by which nodes, and in which iterations of
// loops. Kept in runs that a hook looks at, for the hook to ask; other runs do not pay for it.
#ifndef GRAPNEL_LIB_EXEC_CALL_STACK_H_
#define GRAPNEL_LIB_EXEC_CALL_STACK_H_

#include <cstdint>

#include "lib/ir/module.h"
#include "lib/support/public.h"

namespace grapnel {

// A call of a function, or an iteration of a loop that Enter, Merge and Exit make.
struct GRAPNEL_PUBLIC CallFrame {
  const Function* function = nullptr;  // null: an iteration
  // The node that calls; null of an iteration, and of a call that a dataset makes on its own.
  const Node* caller = nullptr;
  llvm::StringRef loop;    // of an iteration: the name of its frame
  int64_t iteration = -1;  // from 0, also of a call of a While's condition or body; -1: in no loop
  const CallFrame* outer = nullptr;  // null: the graph that is run
};

// The innermost on this thread, which lives as long as the node that asks runs; null: none.
GRAPNEL_PUBLIC const CallFrame* CurrentCall();

// Until it ends this thread is in `frame`, which outlives it.
class GRAPNEL_PUBLIC InCall {
 public:
  explicit InCall(const CallFrame* frame);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  const CallFrame* before_;
};

// The node that this thread runs; null: none that a hook could see.
GRAPNEL_PUBLIC const Node* RunningNode();
class RunHook;
// The hook that wants it; null: none does.
GRAPNEL_PUBLIC RunHook* HookOfRunningNode();

class GRAPNEL_PUBLIC InNode {
 public:
  InNode(const Node* node, RunHook* hook);
  ~InNode();
  InNode(const InNode&) = delete;
  InNode& operator=(const InNode&) = delete;

 private:
  const Node* before_;
  RunHook* hook_before_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_CALL_STACK_H_
