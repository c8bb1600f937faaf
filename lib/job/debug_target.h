// What a debugger runs: a graph, or a C++ program whose ops run as it calls them.
#ifndef GRAPNEL_LIB_JOB_DEBUG_TARGET_H_
#define GRAPNEL_LIB_JOB_DEBUG_TARGET_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/ir/line_table.h"
#include "lib/ir/module.h"

namespace grapnel {

class DebugTarget {
 public:
  virtual ~DebugTarget() = default;
  // Once, before all else. `hook` sees each node that runs, on one thread; while `is_unseen` says
  // so nothing is printed.
  void Attach(RunHook* hook, std::function<bool()> is_unseen) {
    hook_ = hook;
    is_unseen_ = std::move(is_unseen);
  }

  // Before the first run, and to begin again: what a run changed is as it was at first. Errors:
  // it cannot be run.
  virtual Error Begin() = 0;
  // `values` are in the order of feeds(). Variables keep what each run made of them.
  virtual Expected<std::vector<Tensor>> Run(std::vector<Tensor> values) = 0;
  // In a run, on its thread: the hook gives errors from now on, and the run is to end.
  virtual void End() {}

  // The graph that runs, to the next Run() of one that grows: its nodes are there as soon as they
  // run.
  virtual const Module& module() const = 0;
  virtual bool grows() const { return false; }
  virtual const std::vector<std::string>& feeds() const = 0;
  virtual const std::vector<Tensor>& feed_values() const = 0;
  // After a run, of one that grows; see RunJob.
  virtual const std::vector<std::string>& fetches() const = 0;
  virtual const std::vector<std::string>& fetch_names() const = 0;
  // In which lines of a program its nodes were made; good to the next call.
  virtual const LineTable& lines() const = 0;
  // Of one node, that may have come since. Empty: nobody knows.
  virtual LineTable::Stack StackOf(const Node& node) const { return lines().StackOf(node); }
  // Of the graph's file; empty: it has none.
  virtual const std::string& path() const = 0;

 protected:
  RunHook* hook() const { return hook_; }
  bool is_unseen() const { return is_unseen_(); }

 private:
  RunHook* hook_ = nullptr;
  std::function<bool()> is_unseen_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DEBUG_TARGET_H_
