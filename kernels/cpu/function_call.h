// Calls of a function of the library, from kernels.
#ifndef GRAPNEL_KERNELS_CPU_FUNCTION_CALL_H_
#define GRAPNEL_KERNELS_CPU_FUNCTION_CALL_H_

#include <memory>
#include <string>
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

 private:
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

#endif  // GRAPNEL_KERNELS_CPU_FUNCTION_CALL_H_
