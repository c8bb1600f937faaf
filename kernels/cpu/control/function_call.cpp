#include "kernels/cpu/control/function_call.h"

#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

// Infinite recursion must be reported as an error of the graph before it overflows the stack.
constexpr int kMaxDepth = 200;
constexpr int kNamedDepth = 8;
thread_local int call_depth = 0;

}  // namespace

Expected<const FunctionCall::Plan*> FunctionCall::CompiledFor(const RunServices& services) const {
  const Plan* current = plans_->current.load(std::memory_order_acquire);
  if (current && current->IsFor(services)) return current;
  std::lock_guard lock(plans_->mutex);
  current = plans_->current.load(std::memory_order_relaxed);
  if (current && current->IsFor(services)) return current;  // another thread has compiled it
  auto plan = std::make_unique<Plan>(services);
  RunProfiler* profiler = services.profiler;
  RunProfiler::Clock::time_point began;
  if (profiler) began = profiler->Begin();
  auto executor = Executor::CompileFunction(*function_, ExecutorOptions(services));
  if (profiler) profiler->Compiled(*function_, began, RunProfiler::Clock::now());
  if (!executor) return executor.takeError();
  plan->executor = std::move(*executor);
  plans_->current.store(plan.get(), std::memory_order_release);
  plans_->owned = std::move(plan);
  return plans_->owned.get();
}

Expected<FunctionCall::Compiled> FunctionCall::Begin(const RunServices& services,
                                                     size_t num_inputs) const {
  if (!function_) return MakeError("function '{0}' is not in the library", name_);
  if (num_inputs != function_->args.size()) {
    return MakeError("function '{0}' takes {1} arguments, {2} are given", name_,
                     function_->args.size(), num_inputs);
  }
  if (call_depth >= kMaxDepth)
    return MakeError(
        "function '{0}': calls are nested {1} deep, the recursion does not seem to end", name_,
        kMaxDepth);
  ASSIGN_OR_RETURN(const Plan* plan, CompiledFor(services));
  return Compiled(this, plan->executor.get(), services.hook);
}

Error FunctionCall::Compiled::RunWatched(llvm::MutableArrayRef<Tensor> inputs,
                                         llvm::MutableArrayRef<Tensor> outputs, int64_t iteration) {
  CallFrame frame;
  frame.function = call_->function_;
  frame.caller = RunningNode();
  frame.iteration = iteration;
  frame.outer = CurrentCall();
  InCall in(&frame);
  hook_->OnCall(frame);
  return series_.Run(inputs, outputs);
}

Error FunctionCall::Compiled::Run(llvm::MutableArrayRef<Tensor> inputs,
                                  llvm::MutableArrayRef<Tensor> outputs, int64_t iteration) {
  ++call_depth;
  Error error = hook_ ? RunWatched(inputs, outputs, iteration) : series_.Run(inputs, outputs);
  --call_depth;
  // Names only the outer functions: two hundred names would not explain a recursion better.
  if (!error || call_depth >= kNamedDepth) return error;
  return Annotate("function '" + call_->name_ + "'", std::move(error));
}

Error FunctionCall::Run(const RunServices& services, llvm::MutableArrayRef<Tensor> inputs,
                        llvm::SmallVectorImpl<Tensor>* outputs) const {
  ASSIGN_OR_RETURN(Compiled compiled, Begin(services, inputs.size()));
  outputs->clear();
  outputs->resize(compiled.num_results());
  return compiled.Run(inputs, *outputs);
}

Expected<std::string> FunctionAttr(const Node& node, llvm::StringRef key) {
  auto attr = node.FindAttr(key);
  auto name = attr ? attr->AsFuncName() : std::nullopt;
  if (!name) return MakeError("attribute '{0}' is missing or does not name a function", key);
  return name->str();
}

Expected<bool> IsTrue(const Tensor& condition) {
  if (condition.rank() != 0) return condition.num_elements() != 0;
  if (condition.dtype() == proto::DT_BOOL) return *condition.data<bool>();
  if (condition.dtype() == proto::DT_STRING) return !condition.data<std::string>()->empty();
  if (condition.HoldsObjects())
    return MakeError("{0} is neither true nor false: it holds an object, not a value",
                     condition.ToString());
  return condition.ToLiteral().AsDouble(0) != 0;
}

}  // namespace grapnel
