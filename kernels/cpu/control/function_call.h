// Calls of a function of the library, from kernels.
#ifndef GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_
#define GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "lib/exec/executor.h"

namespace grapnel {

// A function that a kernel calls. It is compiled when it is first called, so recursion that ends is
// no trouble, and once: calls within calls, and calls of several threads, run the same plan, each
// with a state of its own. What its stateful kernels keep lives as long as the plan does.
//
// Thread-safe among calls with the same services, which all runs of one plan have. Calls with other
// services (an iterator that is kept from one executor to the next) have it compiled again, and
// must not overlap with them.
class FunctionCall {
 public:
  // The function of this name in the library of the node's module.
  FunctionCall(const Node& node, llvm::StringRef name)
      : function_(node.graph().module().FindFunction(name)), name_(name.str()) {}

  // Takes the inputs. The error names the function.
  Error Run(const RunServices& services, llvm::MutableArrayRef<Tensor> inputs,
            llvm::SmallVectorImpl<Tensor>* outputs) const;

  // The compiled function, for as many calls as one likes, one after the other: what a loop needs.
  // Must not outlive the FunctionCall.
  class Compiled {
   public:
    Compiled(const FunctionCall* call, Executor* executor, RunHook* hook)
        : call_(call), executor_(executor), hook_(hook), series_(*executor) {}
    int num_results() const { return executor_->num_fetches(); }
    // Whether argument `i` is of use; an empty tensor does as well if not.
    bool Reads(int i) const { return executor_->ReadsFeed(i); }
    // Takes the inputs; `outputs` are num_results() of them. `iteration`: of the loop that calls.
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
  // Calls look at `current` without the lock, which is held while the function is compiled.
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

// The name of the function in attribute `key`.
Expected<std::string> FunctionAttr(const Node& node, llvm::StringRef key);

// What TensorFlow takes for true: a bool, a number that is not 0, a string that is not empty, a
// tensor with elements.
Expected<bool> IsTrue(const Tensor& condition);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_
