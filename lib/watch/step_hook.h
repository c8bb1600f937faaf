// Hooks before and after each run of a graph, like TensorFlow's SessionRunHook.
#ifndef GRAPNEL_LIB_WATCH_STEP_HOOK_H_
#define GRAPNEL_LIB_WATCH_STEP_HOOK_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/support/public.h"

namespace grapnel {

// The current run of a sequence, and the functions that hooks may call.
struct GRAPNEL_PUBLIC StepContext {
  int64_t run = 0;  // number of the run, from 1; 0: before the first run
  llvm::ArrayRef<std::string> feeds, fetches;
  llvm::ArrayRef<std::string> fetch_names;  // the user's names, such as a signature's keys
  llvm::ArrayRef<Tensor> feed_values;
  llvm::ArrayRef<Tensor> fetched;  // set after the run; empty for a fetch that is a node without
                                   // outputs
  bool has_failed = false;         // at the end: the last run failed

  // Call it before a run: makes the run also compute this tensor of the main graph ("x:0").
  void Fetch(llvm::StringRef tensor);
  // Call it after a run: returns the value of a tensor that is fed, fetched, or requested by any
  // hook; for a variable's handle, the variable's value after the run. Errors: the tensor is
  // neither fed, fetched nor requested; the variable has no value.
  Expected<Tensor> Value(llvm::StringRef tensor) const;
  // Call it after a run: makes this run the last. AfterRun() of later hooks in the list is still
  // called for this run.
  void RequestStop() { stops = true; }
  // Call it after a run or at the end: writes the variables as a checkpoint.
  std::function<Error(llvm::StringRef prefix)> save_variables;

  std::vector<std::string> more;    // requested tensors that are not fetched, each once, sorted
  std::vector<Tensor> more_values;  // values of `more`, set after the run
  bool stops = false;
};

// Observes a sequence of runs. Hooks are called in the order in which they were given, by one
// thread at a time. An error ends the run; the caller prefixes it with the hook's name.
class GRAPNEL_PUBLIC StepHook {
 public:
  virtual ~StepHook() = default;
  virtual std::string name() const = 0;  // for errors: "--summaries"
  // Returns a hook that observes the nodes of the graph; null if not needed.
  virtual RunHook* node_hook() { return nullptr; }

  // Called once, before the graph is compiled. Tensors requested here are computed in every run.
  virtual Error Begin(StepContext& /*step*/) { return Error::success(); }
  // Tensors requested here are computed in this run. The graph is compiled once for each distinct
  // set of requested tensors.
  virtual Error BeforeRun(StepContext& /*step*/) { return Error::success(); }
  // Called after each run, unless the run failed.
  virtual Error AfterRun(StepContext& /*step*/) { return Error::success(); }
  // Called once, after the last run, failed or not. Write final results here.
  virtual Error End(StepContext& /*step*/) { return Error::success(); }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_STEP_HOOK_H_
