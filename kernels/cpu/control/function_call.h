// Calls of library functions from kernels.
#ifndef GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_
#define GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "lib/exec/executor.h"

namespace grapnel {

// A function that a kernel calls. It is compiled once, at its first call, so terminating recursion
// works. Nested calls and calls from several threads run the same plan, each with its own state.
// The state of its stateful kernels lives as long as the plan.
//
// Thread-safe for calls with the same RunServices: all runs of one plan have the same. A call with
// other services (by an iterator that outlives its executor) compiles the function again and must
// not overlap with other calls.
class FunctionCall {
 public:
  // Looks up the function of this name in the library of the node's module.
  FunctionCall(const Node& node, llvm::StringRef name)
      : function_(node.graph().module().FindFunction(name)), name_(name.str()) {}

  // Consumes the inputs. An error of the function's run names the function, except in calls nested
  // 8 deep or more.
  Error Run(const RunServices& services, llvm::MutableArrayRef<Tensor> inputs,
            llvm::SmallVectorImpl<Tensor>* outputs) const;

  // The compiled function, for any number of consecutive calls, as in a loop. Must not outlive the
  // FunctionCall.
  class Compiled {
   public:
    Compiled(const FunctionCall* call, Executor* executor, RunHook* hook)
        : call_(call), executor_(executor), hook_(hook), series_(*executor) {}
    int num_results() const { return executor_->num_fetches(); }
    // True if the function reads argument `i`; if not, the caller may pass an empty tensor.
    bool Reads(int i) const { return executor_->ReadsFeed(i); }
    // Consumes the inputs; `outputs` has num_results() entries. `iteration` is the iteration number
    // of the calling loop, -1 outside loops.
    Error Run(llvm::MutableArrayRef<Tensor> inputs, llvm::MutableArrayRef<Tensor> outputs,
              int64_t iteration = -1);

   private:
    Error RunWatched(llvm::MutableArrayRef<Tensor> inputs, llvm::MutableArrayRef<Tensor> outputs,
                     int64_t iteration);
    const FunctionCall* call_;
    Executor* executor_;
    RunHook* hook_;
    Executor::Series series_;
  };
  Expected<Compiled> Begin(const RunServices& services, size_t num_inputs) const;

 private:
  // The function compiled for these services.
  struct Plan {
    explicit Plan(const RunServices& services)
        : hook(services.hook),
          profiler(services.profiler),
          pool(&services.pool),
          session(services.session) {}
    bool IsFor(const RunServices& services) const {
      return hook == services.hook && profiler == services.profiler && pool == &services.pool &&
             session == services.session;
    }

    std::unique_ptr<Executor> executor;
    RunHook* hook;
    RunProfiler* profiler;
    ThreadPool* pool;
    Session* session;
  };
  // Calls read `current` without the lock, which is held only while the function is compiled.
  struct Plans {
    std::atomic<const Plan*> current{nullptr};
    std::mutex mutex;
    std::unique_ptr<const Plan> owned;
  };
  Expected<const Plan*> CompiledFor(const RunServices& services) const;

  const Function* function_;
  std::string name_;
  std::unique_ptr<Plans> plans_ = std::make_unique<Plans>();
};

// Returns the name of the function in attribute `key`.
Expected<std::string> FunctionAttr(const Node& node, llvm::StringRef key);

// Returns the truth value that TensorFlow gives a condition: true for a true bool, a nonzero
// number, a non-empty string, or a non-scalar tensor with elements.
Expected<bool> IsTrue(const Tensor& condition);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_
