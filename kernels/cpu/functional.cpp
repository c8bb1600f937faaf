// Calls and functional control flow: PartitionedCall, If, Case, While, and ops that are functions
// of the library. Each function is compiled when it is first called, so recursion that ends is no
// trouble.
#include "lib/exec/executor.h"
#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

// Recursion without end is an error of the graph; the machine's stack must not be what finds out.
constexpr int kMaxDepth = 200;
constexpr int kNamedDepth = 8;
thread_local int call_depth = 0;

class FunctionCall {
 public:
  FunctionCall(const Node& node, llvm::StringRef name)
      : function_(node.graph().module().FindFunction(name)), name_(name.str()) {}

  using Tensors = llvm::SmallVector<Tensor, 8>;
  // Takes the inputs.
  Error Run(KernelContext& context, Tensors& inputs, Tensors* outputs) {
    if (!function_) return MakeError("function '{0}' is not in the library", name_);
    if (inputs.size() != function_->args.size()) {
      return MakeError("function '{0}' takes {1} arguments, {2} are given", name_,
                       function_->args.size(), inputs.size());
    }
    if (call_depth >= kMaxDepth)
      return MakeError(
          "function '{0}': calls are nested {1} deep, the recursion does not seem to end", name_,
          kMaxDepth);
    // A plan runs once at a time: a function that calls itself needs one more for each level.
    std::unique_ptr<Executor> executor;
    if (!idle_.empty()) {
      executor = std::move(idle_.back());
      idle_.pop_back();
    } else {
      ExecutorOptions options(context.services());
      ASSIGN_OR_RETURN(executor, Executor::CompileFunction(*function_, options));
    }
    outputs->clear();
    outputs->resize(executor->num_fetches());
    ++call_depth;
    Error error = executor->Run(inputs, *outputs);
    --call_depth;
    idle_.push_back(std::move(executor));
    // Where a recursion went wrong is not said better by two hundred names.
    if (call_depth >= kNamedDepth) return error;
    return Annotate("function '" + name_ + "'", std::move(error));
  }

 private:
  const Function* function_;
  std::string name_;
  std::vector<std::unique_ptr<Executor>> idle_;
};

using Tensors = FunctionCall::Tensors;

Tensors InputsFrom(KernelContext& context, int first) {
  Tensors inputs;
  for (int i = first; i < context.num_inputs(); ++i) inputs.push_back(context.TakeInput(i));
  return inputs;
}

Error SetOutputs(KernelContext& context, llvm::MutableArrayRef<Tensor> outputs) {
  if (static_cast<int>(outputs.size()) != context.num_outputs()) {
    return MakeError("the function gives {0} results, {1} were expected", outputs.size(),
                     context.num_outputs());
  }
  for (size_t i = 0; i < outputs.size(); ++i) context.SetOutput(i, std::move(outputs[i]));
  return Error::success();
}

// What TensorFlow takes for true: a bool, a number that is not 0, a string that is not empty, a
// tensor with elements.
Expected<bool> IsTrue(const Tensor& condition) {
  if (condition.rank() != 0) return condition.num_elements() != 0;
  if (condition.dtype() == proto::DT_BOOL) return *condition.data<bool>();
  if (condition.dtype() == proto::DT_STRING) return !condition.data<std::string>()->empty();
  if (condition.HoldsObjects())
    return MakeError("{0} is neither true nor false", condition.ToString());
  return condition.ToLiteral().AsDouble(0) != 0;
}

Expected<std::string> FunctionAttr(const Node& node, llvm::StringRef key) {
  auto attr = node.FindAttr(key);
  auto name = attr ? attr->AsFuncName() : std::nullopt;
  if (!name) return MakeError("attribute '{0}' is missing, a function was expected", key);
  return name->str();
}

Expected<KernelFn> MakeCallOf(const KernelSetup& setup, llvm::StringRef name) {
  return [call = FunctionCall(setup.node(), name)](KernelContext& context) mutable -> Error {
    Tensors inputs = InputsFrom(context, 0), outputs;
    RETURN_IF_ERROR(call.Run(context, inputs, &outputs));
    return SetOutputs(context, outputs);
  };
}

Expected<KernelFn> MakeCall(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(std::string name, FunctionAttr(setup.node(), "f"));
  return MakeCallOf(setup, name);
}
Expected<KernelFn> MakeDirectCall(const KernelSetup& setup) {
  return MakeCallOf(setup, setup.node().op());
}

Expected<KernelFn> MakeIf(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(std::string then_name, FunctionAttr(setup.node(), "then_branch"));
  ASSIGN_OR_RETURN(std::string else_name, FunctionAttr(setup.node(), "else_branch"));
  return
      [then_call = FunctionCall(setup.node(), then_name),
       else_call = FunctionCall(setup.node(), else_name)](KernelContext& context) mutable -> Error {
        ASSIGN_OR_RETURN(bool condition, IsTrue(context.input(0)));
        Tensors inputs = InputsFrom(context, 1), outputs;
        RETURN_IF_ERROR((condition ? then_call : else_call).Run(context, inputs, &outputs));
        return SetOutputs(context, outputs);
      };
}

Expected<KernelFn> MakeCase(const KernelSetup& setup) {
  auto attr = setup.node().FindAttr("branches");
  std::vector<FunctionCall> calls;
  if (attr) {
    for (llvm::StringRef name : attr->FuncNames()) calls.emplace_back(setup.node(), name);
  }
  if (calls.empty()) return MakeError("attribute 'branches' is missing or empty");
  return [calls = std::move(calls)](KernelContext& context) mutable -> Error {
    int64_t index = context.input(0).IntAt(0);
    // An index outside the branches means the last one.
    if (index < 0 || index >= static_cast<int64_t>(calls.size())) index = calls.size() - 1;
    Tensors inputs = InputsFrom(context, 1), outputs;
    RETURN_IF_ERROR(calls[index].Run(context, inputs, &outputs));
    return SetOutputs(context, outputs);
  };
}

Expected<KernelFn> MakeWhile(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(std::string cond_name, FunctionAttr(setup.node(), "cond"));
  ASSIGN_OR_RETURN(std::string body_name, FunctionAttr(setup.node(), "body"));
  return [cond = FunctionCall(setup.node(), cond_name),
          body = FunctionCall(setup.node(), body_name)](KernelContext& context) mutable -> Error {
    Tensors state = InputsFrom(context, 0), given, next;
    auto in_iteration = [](int64_t number, Error error) {
      return Annotate("iteration " + llvm::Twine(number), std::move(error));
    };
    for (int64_t iteration = 0;; ++iteration) {
      given = state;
      if (Error error = cond.Run(context, given, &next))
        return in_iteration(iteration, std::move(error));
      if (next.size() != 1)
        return MakeError("the loop's condition gives {0} results, 1 was expected", next.size());
      ASSIGN_OR_RETURN(bool go_on, IsTrue(next[0]));
      if (!go_on) return SetOutputs(context, state);
      // What the condition did not read it did not take either: its references go first, so that
      // the body may write in place.
      given.clear();
      if (Error error = body.Run(context, state, &next))
        return in_iteration(iteration, std::move(error));
      std::swap(state, next);
    }
  };
}

GRAPNEL_CPU_KERNEL("PartitionedCall", nullptr, {}, KernelCost::kWide, MakeCall);
GRAPNEL_CPU_KERNEL("StatefulPartitionedCall", nullptr, {}, KernelCost::kWide, MakeCall);
GRAPNEL_CPU_KERNEL(kFunctionAsOp, nullptr, {}, KernelCost::kWide, MakeDirectCall);
GRAPNEL_CPU_KERNEL("If", nullptr, {}, KernelCost::kWide, MakeIf);
GRAPNEL_CPU_KERNEL("StatelessIf", nullptr, {}, KernelCost::kWide, MakeIf);
GRAPNEL_CPU_KERNEL("Case", nullptr, {}, KernelCost::kWide, MakeCase);
GRAPNEL_CPU_KERNEL("StatelessCase", nullptr, {}, KernelCost::kWide, MakeCase);
GRAPNEL_CPU_KERNEL("While", nullptr, {}, KernelCost::kWide, MakeWhile);
GRAPNEL_CPU_KERNEL("StatelessWhile", nullptr, {}, KernelCost::kWide, MakeWhile);

}  // namespace
}  // namespace grapnel
