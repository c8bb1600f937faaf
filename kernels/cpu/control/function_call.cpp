#include "kernels/cpu/control/function_call.h"

#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

// Recursion without end is an error of the graph; the machine's stack must not be what finds out.
constexpr int kMaxDepth = 200;
constexpr int kNamedDepth = 8;
thread_local int call_depth = 0;

}  // namespace

Expected<std::unique_ptr<Executor>> FunctionCall::Compile(const RunServices& services) const {
  if (!services.profiler) return Executor::CompileFunction(*function_, ExecutorOptions(services));
  auto began = services.profiler->Begin();
  auto executor = Executor::CompileFunction(*function_, ExecutorOptions(services));
  services.profiler->Compiled(*function_, began, RunProfiler::Clock::now());
  return executor;
}

Expected<FunctionCall::Lease> FunctionCall::Begin(const RunServices& services, size_t num_inputs) {
  if (!function_) return MakeError("function '{0}' is not in the library", name_);
  if (num_inputs != function_->args.size()) {
    return MakeError("function '{0}' takes {1} arguments, {2} are given", name_,
                     function_->args.size(), num_inputs);
  }
  if (call_depth >= kMaxDepth)
    return MakeError(
        "function '{0}': calls are nested {1} deep, the recursion does not seem to end", name_,
        kMaxDepth);
  // Who keeps a call from run to run (an iterator) may come back with another hook.
  if (hook_ != services.hook || profiler_ != services.profiler || pool_ != &services.pool ||
      session_ != services.session) {
    idle_.clear();
    hook_ = services.hook;
    profiler_ = services.profiler;
    pool_ = &services.pool;
    session_ = services.session;
  }
  // A plan runs once at a time: a function that calls itself needs one more for each level.
  std::unique_ptr<Executor> executor;
  if (!idle_.empty()) {
    executor = std::move(idle_.back());
    idle_.pop_back();
  } else {
    ASSIGN_OR_RETURN(executor, Compile(services));
  }
  return Lease(this, std::move(executor));
}

FunctionCall::Lease::Lease(FunctionCall* call, std::unique_ptr<Executor> executor)
    : call_(call), executor_(std::move(executor)) {}

FunctionCall::Lease::~Lease() {
  if (executor_) call_->idle_.push_back(std::move(executor_));
}

Error FunctionCall::Lease::Run(llvm::MutableArrayRef<Tensor> inputs,
                               llvm::MutableArrayRef<Tensor> outputs) {
  ++call_depth;
  Error error = executor_->Run(inputs, outputs);
  --call_depth;
  // Where a recursion went wrong is not said better by two hundred names.
  if (!error || call_depth >= kNamedDepth) return error;
  return Annotate("function '" + call_->name_ + "'", std::move(error));
}

Error FunctionCall::Run(const RunServices& services, llvm::MutableArrayRef<Tensor> inputs,
                        llvm::SmallVectorImpl<Tensor>* outputs) {
  ASSIGN_OR_RETURN(Lease lease, Begin(services, inputs.size()));
  outputs->clear();
  outputs->resize(lease.num_results());
  return lease.Run(inputs, *outputs);
}

Expected<std::string> FunctionAttr(const Node& node, llvm::StringRef key) {
  auto attr = node.FindAttr(key);
  auto name = attr ? attr->AsFuncName() : std::nullopt;
  if (!name) return MakeError("attribute '{0}' is missing, a function was expected", key);
  return name->str();
}

Expected<bool> IsTrue(const Tensor& condition) {
  if (condition.rank() != 0) return condition.num_elements() != 0;
  if (condition.dtype() == proto::DT_BOOL) return *condition.data<bool>();
  if (condition.dtype() == proto::DT_STRING) return !condition.data<std::string>()->empty();
  if (condition.HoldsObjects())
    return MakeError("{0} is neither true nor false", condition.ToString());
  return condition.ToLiteral().AsDouble(0) != 0;
}

}  // namespace grapnel
