// Calls of a function of the library, from kernels.
#ifndef GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_
#define GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/executor.h"

namespace grapnel {

// A function is compiled when it is first called, so recursion that ends is no trouble. Not for
// several threads at once. What its stateful kernels keep lives as long as this does.
class FunctionCall {
 public:
  // The function of this name in the library of the node's module.
  FunctionCall(const Node& node, llvm::StringRef name)
      : function_(node.graph().module().FindFunction(name)), name_(name.str()) {}

  // Takes the inputs. The error names the function.
  Error Run(const RunServices& services, llvm::MutableArrayRef<Tensor> inputs,
            llvm::SmallVectorImpl<Tensor>* outputs);

  // The function for as many calls as one likes, one level deep: what a loop needs. Must not
  // outlive the FunctionCall.
  class Lease {
   public:
    Lease(FunctionCall* call, std::unique_ptr<Executor> executor);
    Lease(Lease&& other) noexcept = default;
    ~Lease();
    int num_results() const { return executor_->num_fetches(); }
    // Whether argument `i` is of use; an empty tensor does as well if not.
    bool Reads(int i) const { return executor_->ReadsFeed(i); }
    // Takes the inputs; `outputs` are num_results() of them.
    Error Run(llvm::MutableArrayRef<Tensor> inputs, llvm::MutableArrayRef<Tensor> outputs);

   private:
    FunctionCall* call_;
    std::unique_ptr<Executor> executor_;
  };
  Expected<Lease> Begin(const RunServices& services, size_t num_inputs);

 private:
  Expected<std::unique_ptr<Executor>> Compile(const RunServices& services) const;

  const Function* function_;
  std::string name_;
  std::vector<std::unique_ptr<Executor>> idle_;
  RunHook* hook_ = nullptr;  // what the idle ones were made for
  RunProfiler* profiler_ = nullptr;
  ThreadPool* pool_ = nullptr;
  Session* session_ = nullptr;
};

// The name of the function in attribute `key`.
Expected<std::string> FunctionAttr(const Node& node, llvm::StringRef key);

// What TensorFlow takes for true: a bool, a number that is not 0, a string that is not empty, a
// tensor with elements.
Expected<bool> IsTrue(const Tensor& condition);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_CONTROL_FUNCTION_CALL_H_
