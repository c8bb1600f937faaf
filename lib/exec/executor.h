// The executor, which runs graphs, and the hooks that observe its runs.
#ifndef GRAPNEL_LIB_EXEC_EXECUTOR_H_
#define GRAPNEL_LIB_EXEC_EXECUTOR_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "lib/exec/call_stack.h"
#include "lib/exec/kernel.h"
#include "lib/ir/module.h"
#include "lib/support/public.h"

namespace grapnel {

class ElementCounter;  // lib/exec/element_loop.h

// A hook that observes runs. Except for the functions that are called when a plan is made, its
// functions are called on the thread that runs the node (for a constant, on a thread of the run),
// possibly on several threads at once, for one run or several; CurrentCall()
// (lib/exec/call_stack.h) returns the call and the iteration. Do not keep a tensor beyond the call
// without a deep copy: a copied Tensor shares the buffer and prevents its reuse in place. "On a
// device" means on one other than the CPU.
class GRAPNEL_PUBLIC RunHook {
 public:
  virtual ~RunHook() = default;
  virtual bool Wants(const Node& node) = 0;  // called when a plan is made, at most once for a node
  // Called once in a plan for each constant that the hook wants: returns the value to use instead,
  // of the same dtype and shape.
  virtual Tensor ReplaceConstant(const Node&, const Tensor& value) { return value; }
  // An error from any of these functions fails the run; after an error from BeforeNode() the node
  // does not run. A call that does not return pauses the run: no lock is held, and other threads
  // finish the nodes that they have started, but start few more.
  virtual Error BeforeNode(const Node&, llvm::ArrayRef<Tensor> /*inputs*/) {
    return Error::success();
  }
  virtual Error AfterNode(const Node&, llvm::ArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }
  // Called before AfterNode(): may replace tensors by others of the same dtype and shape. Do not
  // write to a tensor's own memory: other tensors may share it. Not called for constants, for nodes
  // on a device, or for nodes of control flow and communication (Switch, Merge, _Send, collectives,
  // ...).
  virtual Error EditOutputs(const Node&, llvm::MutableArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }
  // Called when a function's body begins on this thread; CurrentCall() returns `call` until the
  // body ends.
  virtual void OnCall(const CallFrame& /*call*/) {}
  // Called in each run for a constant that the hook wants; for one in a branch, only if the branch
  // is taken. `is_first` is true at most once for each constant of a plan, however many runs there
  // are; the value is the same in later calls. When runs overlap, a later call may begin before the
  // call with `is_first` has returned.
  virtual Error OnConstant(const Node& node, const Tensor& value, bool /*is_first*/) {
    return AfterNode(node, value);
  }

  // Called on the node's thread before the kernel computes output 0: returns the counter to call
  // while the kernel computes it, or null to count nothing. Called only for large outputs, and for
  // kernels that support it (ForElements).
  virtual ElementCounter* Counter(const Node& /*node*/, const Tensor& /*output*/) {
    return nullptr;
  }
  // False if BeforeNode() does nothing; then it is not called for nodes with a kernel. Queried once
  // for each plan.
  virtual bool SeesInputs() const { return true; }
  // False if EditOutputs() does nothing; then it is not called. Queried once for each plan.
  virtual bool EditsOutputs() const { return true; }

  // True if the hook accepts tensors on a device, with the stream that computes them: then the
  // executor calls only AfterNodeOn() for a node on a device. Otherwise BeforeNode() and
  // AfterNode() get copies in host memory, and the run waits for these copies.
  virtual bool TakesDeviceTensors() const { return false; }
  virtual Error AfterNodeOn(Stream&, const Node&, llvm::ArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }

  // Called when the plan of a function's body is made, before Wants(): adds the nodes that are to
  // run even if no result of the function needs them.
  virtual void AddNeeded(const Graph& /*body*/, llvm::SmallVectorImpl<NodeId>* /*needed*/) {}
};

// Notified of the kernels that a run calls, on any thread. Unlike a hook, it does not change the
// plan.
class GRAPNEL_PUBLIC RunProfiler {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~RunProfiler() = default;
  // Called before a kernel, and before a function is compiled; returns the time. If a kernel calls
  // a function, the function's kernels run between Begin() and OnKernel() of the calling kernel.
  virtual Clock::time_point Begin() { return Clock::now(); }
  // Called after a function was compiled, usually for its first call, or failed to compile. Comes
  // between Begin() and OnKernel() of the calling kernel, on the same thread.
  virtual void Compiled(const Function& /*function*/, Clock::time_point /*began*/,
                        Clock::time_point /*ended*/) {}
  // Called when the plan is made, for a kernel that does the work of several nodes
  // (lib/exec/fusion.h): OnKernel() will name the last of these nodes.
  virtual void OnFused(const Node& /*last*/, llvm::ArrayRef<Node> /*nodes*/) {}
  // Names the algorithm of the kernel that runs on this thread, if it is not the usual one:
  // "Winograd".
  virtual void OnVariant(const char* /*how*/) {}
  // Called after a kernel, on the same thread, even if it failed. A kernel on a device has only
  // been enqueued by then.
  virtual void OnKernel(const Node& node, Clock::time_point began, Clock::time_point ended,
                        llvm::ArrayRef<Tensor> outputs) = 0;

  MemoryCounter memory;  // host memory that runs have allocated and not freed
};

// The distribution of a plan over devices.
struct GRAPNEL_PUBLIC PlanSpread {
  int on_device = 0, on_host = 0;  // nodes with a kernel; copies not counted
  int copies = 0;                  // between memories, in each run
  int64_t constant_bytes = 0;      // bytes copied to devices when the plan is made
  std::string note;                // if not empty: why everything is on the CPU
};

struct GRAPNEL_PUBLIC ExecutorOptions {
  ExecutorOptions() = default;
  // The options for a function that a kernel calls: the settings of the calling run, without feeds,
  // fetches, take_value and is_partition.
  explicit ExecutorOptions(const RunServices& services)
      : pool(&services.pool),
        hook(services.hook),
        print(services.print),
        session(services.session),
        profiler(services.profiler),
        device(services.prefers),
        cancel(services.cancel),
        winograd(services.winograd),
        onednn(services.onednn),
        is_xla(services.is_xla) {}

  std::vector<std::string> feeds;    // tensors: "x:0", or "x" for output 0
  std::vector<std::string> fetches;  // tensors, or nodes without outputs that must run
  ThreadPool* pool = nullptr;        // required; outlives the executor
  RunHook* hook = nullptr;
  MessageSink print;           // receives the output of PrintV2 and similar ops
  Session* session = nullptr;  // variables and tables; null: the executor makes its own
  RunProfiler* profiler = nullptr;
  // The device that runs the nodes that have a kernel for it and name no other device. Other nodes
  // run on the CPU, and values are copied as needed. A graph with Switch, Merge, loops of single
  // nodes, sends, receives or collectives runs on the CPU as a whole. Null: all nodes run on the
  // CPU.
  Device* device = nullptr;
  // If not null: once the flag is set, no further kernel starts; the next call of a kernel returns
  // an error instead, which ends the run.
  const CancelFlag* cancel = nullptr;
  // Allows Winograd convolutions where the CPU's library has them: faster, with different rounding.
  bool winograd = false;
  // If true, kernels round as in a TensorFlow that uses oneDNN, where oneDNN rounds differently
  // from TensorFlow's own kernels. The constant folding of passes ignores this option.
  bool onednn = true;
  // True if TensorFlow would compile the graph with XLA: then ops that check values do nothing.
  // Calls marked _XlaMustCompile set this for their function.
  bool is_xla = false;
  // Called when a plan for the CPU is made without a hook, single-node control flow, sends,
  // receives and collectives, once for each large float constant that only kernels that pack it
  // (KernelDef::keeps) read, or no kernel any more. Takes the value out of the graph, where it must
  // not be read again, and returns the owner of the value's memory, which is released once the
  // value is packed; or returns null if the graph keeps the value. An empty function: the graph
  // keeps all values.
  std::function<std::shared_ptr<const void>(const Node& constant)> take_value;
  // True if the graph is one of the partitions of a PartitionedExecutor.
  bool is_partition = false;
};

class RunState;  // lib/exec/run_state.h

// A graph compiled once for given feeds and fetches, to run any number of times. Compilation makes
// the kernels, loads the constants, and determines the order and the readers of each value.
// Run() may be called on several threads at once. Each run has its own state: values in flight,
// frames, finished nodes. States are kept for later runs, as many as ever ran at once, so a steady
// sequence of runs allocates little beside its results. Runs share
//   - the plan: constants, kernels, and how long each node took when last measured. State that an
//     op keeps between runs is behind a lock: overlapping runs of a random op get different
//     numbers;
//   - the session: a run sees what other runs assign to variables, in no specified order;
//   - the thread pool: while one run's kernel uses it, kernels of other runs stay on their own
//     thread;
//   - the buffer pool: a buffer returns to it after its last use, and is overwritten in place where
//     that is safe;
//   - the device's stream and memory: work runs in the order in which it was queued. A run waits
//     for all of it before it ends, and an error in it fails each run that waits;
//   - the hook, the profiler and the print sink, which are called on the threads of all runs.
class GRAPNEL_PUBLIC Executor {
 public:
  // The module must outlive the executor and not change. Errors: such as a feed or fetch that does
  // not exist, ops without a kernel and placeholders without a feed (the error shows the first 8),
  // or attributes that an op does not allow.
  static Expected<std::unique_ptr<Executor>> Compile(const Graph& graph,
                                                     const ExecutorOptions& options);
  // Compiles a function's body: the feeds are its arguments, the fetches its results.
  static Expected<std::unique_ptr<Executor>> CompileFunction(const Function& function,
                                                             const ExecutorOptions& options);
  ~Executor();

  // Returns the values of the fetches in order, in host memory (an empty tensor for a node without
  // outputs). `feeds` are in host memory too, in the order of the options; their dtypes are checked
  // against the graph, and their shapes against the Placeholders and arguments that they replace. A
  // feed that is moved in may be overwritten. An error of a kernel names the node.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> feeds);
  // Like Run(feeds), but allocates no vector, for frequent runs: moves the feeds in and fills
  // `results`, one for each fetch.
  Error Run(llvm::MutableArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results);

  // A sequence of runs, as in a loop, that owns one state for all its runs instead of acquiring a
  // state for each. Use on one thread at a time; must not outlive the executor.
  class Series {
   public:
    explicit Series(Executor& executor);
    Series(Series&&) noexcept;
    ~Series();
    Error Run(llvm::MutableArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results);

   private:
    Executor* executor_;
    std::unique_ptr<RunState> state_;
  };

  // Returns the number of nodes in the plan, such as kernels, copies and control flow; a fusion
  // counts as one.
  int num_nodes() const;
  int num_fetches() const;
  // False if no node or fetch reads the value of feed `i`: then an empty tensor may be fed. Always
  // true for a partition, and for a graph with Switch, Merge, loops of single nodes, sends,
  // receives or collectives.
  bool ReadsFeed(int i) const;
  const PlanSpread& spread() const;

 private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_EXECUTOR_H_
