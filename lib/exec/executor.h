// Runs graphs: the executor, and what looks at its runs.
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

// Looks at runs as they go. Called on whichever thread ran the node, on several at once, of one run
// or of several; lib/exec/call_stack.h says in which call and iteration. A tensor must not be kept
// beyond the call unless it is copied: a copy shares the buffer, and stops it from being reused in
// place.
class GRAPNEL_PUBLIC RunHook {
 public:
  virtual ~RunHook() = default;
  virtual bool Wants(const Node& node) = 0;  // asked once a node, when the plan is made
  // Asked once a plan for each constant that it wants: what is read in its place, of the same dtype
  // and shape.
  virtual Tensor ReplaceConstant(const Node&, const Tensor& value) { return value; }
  // An error of either stops the run, which fails with it; an error before the node keeps the node
  // from running. A call that does not return pauses the run: no lock is held, and other threads
  // finish the nodes that they have begun, but little begins after that.
  virtual Error BeforeNode(const Node&, llvm::ArrayRef<Tensor> /*inputs*/) {
    return Error::success();
  }
  virtual Error AfterNode(const Node&, llvm::ArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }
  // Before AfterNode(): may put other tensors of the same dtype and shape in their place. A
  // tensor's own memory must not be written: others may share it. Not asked of what lies on a
  // device.
  virtual Error EditOutputs(const Node&, llvm::MutableArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }
  // A function's body begins, on this thread; CurrentCall() is `call` until it ends.
  virtual void OnCall(const CallFrame& /*call*/) {}
  // A constant, in each run: it is not run, but seen like any other node. `is_first` is true once
  // for each constant of a plan, however many runs there are; later the value is the same. When
  // runs overlap, the call with `is_first` need not have returned before another begins.
  virtual Error OnConstant(const Node& node, const Tensor& value, bool /*is_first*/) {
    return AfterNode(node, value);
  }

  // Asked while the node runs, on its thread: who counts output 0 while the kernel makes it. Null:
  // nobody. Asked of large outputs alone, and of kernels that can say (ForElements).
  virtual ElementCounter* Counter(const Node& /*node*/, const Tensor& /*output*/) {
    return nullptr;
  }
  // Asked once a plan: whether BeforeNode() and EditOutputs() do anything, and are to be called.
  virtual bool SeesInputs() const { return true; }
  virtual bool EditsOutputs() const { return true; }

  // Whether the hook takes tensors that lie on a device, and the stream that makes them: then a
  // node there calls AfterNodeOn() alone. Else BeforeNode() and AfterNode() get copies in host
  // memory, for which the run waits.
  virtual bool TakesDeviceTensors() const { return false; }
  virtual Error AfterNodeOn(Stream&, const Node&, llvm::ArrayRef<Tensor> /*outputs*/) {
    return Error::success();
  }
};

// Told of each kernel's run, on any thread. Unlike a hook it leaves the plan as it is without it.
class GRAPNEL_PUBLIC RunProfiler {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~RunProfiler() = default;
  // Before a kernel; returns the time. The kernels of a function run between Begin() and OnKernel() of
  // the kernel that calls it.
  virtual Clock::time_point Begin() { return Clock::now(); }
  // A function was compiled for its first call: after Begin() of the kernel that calls it, on the
  // same thread.
  virtual void Compiled(const Function& /*function*/, Clock::time_point /*began*/,
                        Clock::time_point /*ended*/) {}
  // One kernel does the work of several nodes (lib/exec/fusion.h), and is OnKernel() as the last of
  // them. When the plan is made.
  virtual void OnFused(const Node& /*last*/, llvm::ArrayRef<Node> /*nodes*/) {}
  // How the kernel that is under way on this thread does it, where that is not its usual way:
  // "Winograd".
  virtual void OnVariant(const char* /*how*/) {}
  // After a kernel, on the same thread, also if it failed. A device's kernel is only queued by
  // then.
  virtual void OnKernel(const Node& node, Clock::time_point began, Clock::time_point ended,
                   llvm::ArrayRef<Tensor> outputs) = 0;

  MemoryCounter memory;  // host memory that runs took and have not given back
};

// How a plan is spread.
struct GRAPNEL_PUBLIC PlanSpread {
  int on_device = 0, on_host = 0;  // nodes that run; copies not counted
  int copies = 0;                  // in each run
  int64_t constant_bytes = 0;      // copied once, when the plan was made
  std::string note;                // set: why everything is on the CPU
};

struct GRAPNEL_PUBLIC ExecutorOptions {
  ExecutorOptions() = default;
  // For a function that a kernel calls: all but feeds and fetches as in the run that it is part of.
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
  std::vector<std::string> fetches;  // tensors, or nodes without outputs that are to run
  ThreadPool* pool = nullptr;        // required; outlives the executor
  RunHook* hook = nullptr;
  MessageSink print;           // what PrintV2 and its like print
  Session* session = nullptr;  // variables and tables; null: one of the executor's own
  RunProfiler* profiler = nullptr;
  // Where a node runs that has a kernel there and names no other device; the others run on the CPU,
  // and values are copied where they cross. Null: the CPU.
  Device* device = nullptr;
  // Set: the run ends with an error as soon as the kernels that it is in have returned.
  const CancelFlag* cancel = nullptr;
  // Convolutions may be computed by Winograd's way where the CPU's library has it: faster, with
  // other rounding.
  bool winograd = false;
  // Values are those of a TensorFlow that computes with oneDNN, where its kernels round otherwise
  // than TensorFlow's own. Constants are computed by TensorFlow's own either way.
  bool onednn = true;
  // The graph is part of what XLA compiles in TensorFlow: ops that check values do nothing. Calls
  // that are marked _XlaMustCompile set it for their function.
  bool is_xla = false;
  // Set: asked once for each large constant whose value nobody reads but kernels that pack it.
  // Takes it out of the graph, which nobody asks for it again, and gives what holds its memory:
  // that goes when it is packed. Null: the graph keeps it.
  std::function<std::shared_ptr<const void>(const Node& constant)> take_value;
  // The graph is one of the partitions that a PartitionedExecutor runs.
  bool is_partition = false;
};

class RunState;  // lib/exec/run_state.h

// A graph that is compiled once for given feeds and fetches, and run as often as one likes: kernels
// are made, constants loaded, and order and readers found when it is compiled.
//
// Run() may be called on several threads at once. Each run has a state of its own: values on their
// way, frames, what has run. States are kept for later runs, as many as ever ran at once, so that a
// steady sequence of runs allocates nothing but its results. Runs share
//   - the plan: constants, kernels, and the times that nodes took last. What an op keeps from run
//   to
//     run it keeps under a lock: overlapping runs of a random op get different numbers;
//   - the session: a run sees what others assign to its variables. Which of two wins is not said;
//   - the pool of threads: while one run's kernel has it, those of others stay on their own thread;
//   - the pool of buffers, from which a buffer is given back at its last use, and overwritten in
//     place where that is safe;
//   - the device's stream and memory: work that runs queue is done in the order in which it was
//     queued. A run that ends waits for all of it, and an error of it fails each run that waits;
//   - the hook, the profiler and the print sink, which are called on the threads of all runs.
class GRAPNEL_PUBLIC Executor {
 public:
  // The module must outlive the executor and not change. Errors: a feed or fetch that is not there,
  // an op without a kernel (all of them are listed), a placeholder that nobody feeds.
  static Expected<std::unique_ptr<Executor>> Compile(const Graph& graph,
                                                     const ExecutorOptions& options);
  // A function's body: feeds are its arguments, fetches its results.
  static Expected<std::unique_ptr<Executor>> CompileFunction(const Function& function,
                                                             const ExecutorOptions& options);
  ~Executor();

  // Gives the values of the fetches in order, in host memory (an empty tensor for a node without
  // outputs). `feeds` are in host memory too, in the order of the options; their dtype is checked
  // against the graph, and their shape against a Placeholder's. A feed that is moved in may be
  // overwritten. Errors name the node.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> feeds);
  // The same without an allocation, for callers that run it often: takes the feeds, and fills
  // `results`, one for each fetch.
  Error Run(llvm::MutableArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results);

  // Runs one after the other, as of a loop: a state of their own for all of them, so that none is
  // looked for. One thread at a time; must not outlive the executor.
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

  int num_nodes() const;  // the nodes that run
  int num_fetches() const;
  // Whether a run reads feed `i`. If not, an empty tensor does as well.
  bool ReadsFeed(int i) const;
  const PlanSpread& spread() const;

 private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_EXECUTOR_H_
