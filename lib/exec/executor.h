// Runs a graph: compiled once for given feeds and fetches, then run as often as one likes.
#ifndef GRAPNEL_LIB_EXEC_EXECUTOR_H_
#define GRAPNEL_LIB_EXEC_EXECUTOR_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "lib/exec/kernel.h"
#include "lib/ir/module.h"

namespace grapnel {

// Looks at a run as it goes. Called on whichever thread ran the node, from several at once; tensors
// must not be kept beyond the call unless copied (a copy shares the buffer and stops it from being
// reused in place).
class RunHook {
 public:
  virtual ~RunHook() = default;
  virtual bool Wants(const Node& node) = 0;  // asked once a node, when the plan is made
  // Of both: an error stops the run, which then fails with it; before a node, the node does not
  // run. A call that does not return pauses the run: no lock is held, and what other threads are at
  // they finish, but little begins after that.
  virtual Error BeforeNode(const Node&, llvm::ArrayRef<Tensor> /*inputs*/) {
    return Error::success();
  }
  virtual Error AfterNode(const Node&, llvm::ArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }
  // A constant, in each run: it is not run, but seen like any other node. `is_first`: not told of
  // in this plan before; later the value is the same.
  virtual Error OnConstant(const Node& node, const Tensor& value, bool /*is_first*/) {
    return AfterNode(node, value);
  }

  // Whether it takes tensors that lie on a device, and the stream that makes them: then a node
  // there calls AfterNodeOn() alone. Else the two above get copies in host memory, which the run
  // waits for.
  virtual bool TakesDeviceTensors() const { return false; }
  virtual Error AfterNodeOn(Stream&, const Node&, llvm::ArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }
};

// Told of each kernel's run. Unlike a hook it leaves the plan as it is without it.
class RunProfiler {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~RunProfiler() = default;
  // Before a kernel: the time, looked at last. On any thread; functions' kernels lie within those
  // that call them.
  virtual Clock::time_point Begin() { return Clock::now(); }
  // A function was compiled for its first call, within the kernel that calls it: after Begin(), on
  // the same thread.
  virtual void Compiled(const Function& /*function*/, Clock::time_point /*began*/,
                        Clock::time_point /*ended*/) {}
  // After it, on the same thread, also if it failed. Of a device's kernel: when it was queued.
  virtual void Ran(const Node& node, Clock::time_point began, Clock::time_point ended,
                   llvm::ArrayRef<Tensor> outputs) = 0;

  MemoryCounter memory;  // host memory that runs took and have not given back
};

// How a plan is spread.
struct PlanSpread {
  int on_device = 0, on_host = 0;  // nodes that run; copies not counted
  int copies = 0;                  // in each run
  int64_t constant_bytes = 0;      // copied once, when the plan was made
  std::string note;                // set: why everything is on the CPU
};

struct ExecutorOptions {
  ExecutorOptions() = default;
  // For a function that a kernel calls: all but feeds and fetches as in the run that it is part of.
  explicit ExecutorOptions(const RunServices& services)
      : pool(&services.pool),
        hook(services.hook),
        print(services.print),
        session(services.session),
        profiler(services.profiler),
        device(services.prefers) {}

  std::vector<std::string> feeds;    // tensors: "x:0", or "x" for output 0
  std::vector<std::string> fetches;  // tensors, or nodes without outputs that are to run
  ThreadPool* pool = nullptr;        // required; outlives the executor
  RunHook* hook = nullptr;
  MessageSink print;           // what PrintV2 and its like print
  Session* session = nullptr;  // variables and tables; null: one of the executor's own
  RunProfiler* profiler = nullptr;
  // Where a node runs that has a kernel there and names no other device; the others run on the CPU,
  // and values are copied where they cross. Null: the CPU.
  Device* device = nullptr;
  // One of several parts, which a PartitionedExecutor runs: what comes from another may be dead,
  // and is waited for without a thread.
  bool is_part = false;
};

// A plan: kernels made, order and consumers resolved, constants loaded. Buffers are taken from a
// pool of its own, given back at the last use and overwritten in place where that is safe, so the
// steady state allocates nothing. One run at a time.
class Executor {
 public:
  // The module must outlive the executor and not change. Errors: a feed or fetch that is not there,
  // an op without a kernel (all of them are listed), a placeholder that nobody feeds.
  static Expected<std::unique_ptr<Executor>> Compile(const Graph& graph,
                                                     const ExecutorOptions& options);
  // A function's body: feeds are its arguments, fetches its results.
  static Expected<std::unique_ptr<Executor>> CompileFunction(const Function& function,
                                                             const ExecutorOptions& options);
  ~Executor();

  // Values of the fetches, in order (an empty tensor for a node without outputs), in host memory as
  // the feeds are. `feeds` in the
  // order of the options; their dtype is checked against the graph, and their shape against a
  // Placeholder's. A feed that is moved in may be overwritten. Errors name the node.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> feeds);
  // The same without memory of its own, for who calls often: takes the feeds, fills `results`, one
  // for each fetch.
  Error Run(llvm::MutableArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results);

  int num_nodes() const;  // that run
  int num_fetches() const;
  // Whether the value of feed `i` is of use to this plan; an empty tensor does as well if not.
  bool ReadsFeed(int i) const;
  const PlanSpread& spread() const;

 private:
  friend class PlanBuilder;
  friend class PartitionedExecutor;
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_EXECUTOR_H_
