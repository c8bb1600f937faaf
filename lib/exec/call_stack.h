// The call stack of a thread within a run: the functions, the nodes that call them, and the
// iterations of loops. Kept only in runs that have a hook, which may query it; other runs pay
// nothing.
#ifndef GRAPNEL_LIB_EXEC_CALL_STACK_H_
#define GRAPNEL_LIB_EXEC_CALL_STACK_H_

#include <cstdint>

#include "lib/ir/module.h"
#include "lib/support/public.h"

namespace grapnel {

// A call of a function, or an iteration of a loop that Enter, Merge and Exit make.
struct GRAPNEL_PUBLIC CallFrame {
  const Function* function = nullptr;  // null: an iteration
  // The calling node; null for an iteration, and for a call that a dataset makes on its own.
  const Node* caller = nullptr;
  llvm::StringRef loop;              // for an iteration: the name of its frame
  int64_t iteration = -1;            // of a loop, from 0; also for a While's functions; -1: none
  const CallFrame* outer = nullptr;  // null: the graph that runs
};

// Returns the innermost call frame of this thread, valid while the current node runs; null if this
// thread is not in a call, or the run has no hook.
GRAPNEL_PUBLIC const CallFrame* CurrentCall();

// Makes `frame` the innermost call frame of this thread while this object lives; `frame` must
// outlive it.
class GRAPNEL_PUBLIC InCall {
 public:
  explicit InCall(const CallFrame* frame);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  const CallFrame* before_;
};

// Returns the node whose kernel this thread runs; null in a run without a hook, or if it runs none.
GRAPNEL_PUBLIC const Node* RunningNode();
class RunHook;
// Returns the hook that wants the running node; null if none does.
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
