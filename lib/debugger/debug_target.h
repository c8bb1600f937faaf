// A target that the debugger runs: a graph, or a C++ program in eager mode, whose ops run one by
// one.
#ifndef GRAPNEL_LIB_DEBUGGER_DEBUG_TARGET_H_
#define GRAPNEL_LIB_DEBUGGER_DEBUG_TARGET_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/ir/node_selection.h"

namespace grapnel {

class DebugTarget {
 public:
  virtual ~DebugTarget() = default;
  // Called once, before everything else. `hook` sees each node that runs, on one thread. While
  // `is_unseen` returns true, the target suppresses what the nodes print.
  void Attach(RunHook* hook, std::function<bool()> is_unseen) {
    hook_ = hook;
    is_unseen_ = std::move(is_unseen);
  }

  // Called before the first run and to restart: resets all state that runs changed. Errors: the
  // target cannot be run.
  virtual Error Begin() = 0;
  // Runs the target once. `values` are in the order of feeds(). Variables keep their values between
  // runs.
  virtual Expected<std::vector<Tensor>> Run(std::vector<Tensor> values) = 0;
  // Called during a run, on its thread: from now on the hook returns errors, and the target must
  // end the run.
  virtual void End() {}

  // The graph that runs. If grows() is true (eager mode), each op adds a node when it runs, and the
  // next Run() replaces the module.
  virtual const Module& module() const = 0;
  virtual bool grows() const { return false; }
  virtual const std::vector<std::string>& feeds() const = 0;
  virtual const std::vector<Tensor>& feed_values() const = 0;
  // The tensors whose values Run() returns. If grows() is true, valid after a run.
  virtual const std::vector<std::string>& fetches() const = 0;
  virtual const std::vector<std::string>& fetch_names() const = 0;
  // The source lines that created the nodes; valid until the next call of lines().
  virtual const LineTable& lines() const = 0;
  // Returns the stack of a node, even if lines() does not have it yet. Empty: unknown.
  virtual LineTable::Stack StackOf(const Node& node) const { return lines().StackOf(node); }
  // Returns the nodes that a name means (lib/job/name_resolver.h); empty if there are none. Errors:
  // an ambiguous name.
  virtual Expected<NodeSelection> FindNodes(llvm::StringRef) const { return NodeSelection(); }
  // The path of the graph's file; empty if it has no file.
  virtual const std::string& path() const = 0;

 protected:
  RunHook* hook() const { return hook_; }
  bool is_unseen() const { return is_unseen_(); }

 private:
  RunHook* hook_ = nullptr;
  std::function<bool()> is_unseen_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_DEBUG_TARGET_H_
