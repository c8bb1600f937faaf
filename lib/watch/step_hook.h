// Hooks before and after each run of a graph, like TensorFlow's SessionRunHook.
#ifndef GRAPNEL_LIB_WATCH_STEP_HOOK_H_
#define GRAPNEL_LIB_WATCH_STEP_HOOK_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/support/public.h"

namespace grapnel {

// One run, as hooks see it.
struct GRAPNEL_PUBLIC StepContext {
  int64_t run = 0;  // from 1; 0: before the first
  llvm::ArrayRef<std::string> feeds, fetches;
  llvm::ArrayRef<std::string> fetch_names;  // the user's names, such as a signature's keys
  llvm::ArrayRef<Tensor> feed_values;
  llvm::ArrayRef<Tensor> fetched;  // set after the run; empty for a fetch that is a node without
                                   // outputs
  bool has_failed = false;         // at the end: the last run failed

  // Call before a run: the run computes this tensor of the main graph ("x:0") too.
  void Fetch(llvm::StringRef tensor);
  // Call after a run: returns the value of a tensor that is fed, fetched, or requested by any hook;
  // for a variable's handle, the variable's value after the run. Errors: the tensor is not one of
  // those; the variable has no value.
  Expected<Tensor> Value(llvm::StringRef tensor) const;
  // Call after a run: no other run follows. Later hooks in the list still see this one.
  void RequestStop() { stops = true; }
  // Call after a run, and at the end: writes the variables as a checkpoint.
  std::function<Error(llvm::StringRef prefix)> save_variables;

  std::vector<std::string> more;    // requested tensors, each once, sorted
  std::vector<Tensor> more_values;  // after the run
  bool stops = false;
};

// Observes a sequence of runs. Hooks are called in the order in which they were given; an error
// ends the run, and begins with the hook's name. One thread at a time.
class GRAPNEL_PUBLIC StepHook {
 public:
  virtual ~StepHook() = default;
  virtual std::string name() const = 0;  // for errors: "--summaries"
  // A hook for the nodes of the graph; null if not needed.
  virtual RunHook* node_hook() { return nullptr; }

  // Called once, before the graph is compiled. Tensors requested here are computed in every run.
  virtual Error Begin(StepContext& /*step*/) { return Error::success(); }
  // Tensors requested here are computed in this run. Each distinct request is compiled once, and
  // kept.
  virtual Error BeforeRun(StepContext& /*step*/) { return Error::success(); }
  // Not called after a failed run.
  virtual Error AfterRun(StepContext& /*step*/) { return Error::success(); }
  // Called once, after the last run, failed or not: writes the results to keep.
  virtual Error End(StepContext& /*step*/) { return Error::success(); }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_STEP_HOOK_H_
