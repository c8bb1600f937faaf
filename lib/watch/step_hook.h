// What is called before and after each run of a graph, as TensorFlow's SessionRunHook is.
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
  llvm::ArrayRef<std::string> fetch_names;  // what a person calls them, as a signature's key
  llvm::ArrayRef<Tensor> feed_values;
  llvm::ArrayRef<Tensor> fetched;  // after the run; a tensor that a node without outputs stands for
                                   // is none
  bool has_failed = false;         // at the end: the last run did

  // Before a run: it computes this tensor of the main graph too ("x:0").
  void Fetch(llvm::StringRef tensor);
  // After it: the value of what is fed, fetched, or asked for by any hook; of a variable's handle
  // the variable's, as the run left it. Errors: it is none of those; the variable has no value.
  Expected<Tensor> Value(llvm::StringRef tensor) const;
  // After it: no other run follows. Those that come later in the list still see this one.
  void RequestStop() { stops = true; }
  // After it, and at the end: writes the variables as a checkpoint.
  std::function<Error(llvm::StringRef prefix)> save_variables;

  std::vector<std::string> more;    // asked for, each once, sorted
  std::vector<Tensor> more_values;  // after the run
  bool stops = false;
};

// Told of a sequence of runs. Several are called in the order in which they were given; an error of
// one ends the run, and begins with its name. One thread at a time.
class GRAPNEL_PUBLIC StepHook {
 public:
  virtual ~StepHook() = default;
  virtual std::string name() const = 0;  // for errors: "--summaries"
  // Called for nodes too, while the graph runs; null: not.
  virtual RunHook* node_hook() { return nullptr; }

  // Once, before the graph is compiled. What is asked for here is computed in every run.
  virtual Error Begin(StepContext& /*step*/) { return Error::success(); }
  // What is asked for here is computed in this run. Each choice is compiled once, and kept.
  virtual Error BeforeRun(StepContext& /*step*/) { return Error::success(); }
  // Not of a run that failed.
  virtual Error AfterRun(StepContext& /*step*/) { return Error::success(); }
  // Once, after the last run, or one that failed: what is to be kept is written.
  virtual Error End(StepContext& /*step*/) { return Error::success(); }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_STEP_HOOK_H_
