// Calls and functional control flow: PartitionedCall, If, Case and While, their stateful or
// stateless forms, and ops that are functions of the library. Each function is compiled at its
// first call, so terminating recursion works.
#include <optional>

#include "kernels/cpu/control/function_call.h"

namespace grapnel {
namespace {

using Tensors = llvm::SmallVector<Tensor, 8>;

Tensors InputsFrom(KernelContext& context, int first) {
  Tensors inputs;
  for (int i = first; i < context.num_inputs(); ++i) inputs.push_back(context.TakeInput(i));
  return inputs;
}

Error SetOutputs(KernelContext& context, llvm::MutableArrayRef<Tensor> outputs) {
  if (static_cast<int>(outputs.size()) != context.num_outputs()) {
    return MakeError("expected {1} results, one per output, got {0}", outputs.size(),
                     context.num_outputs());
  }
  for (size_t i = 0; i < outputs.size(); ++i) context.SetOutput(i, std::move(outputs[i]));
  return Error::success();
}

Expected<KernelFn> MakeCallOf(const KernelSetup& setup, llvm::StringRef name) {
  // As in TensorFlow, this attribute of the call, not of the function, decides whether XLA
  // compiles.
  bool is_xla = setup.node().GetBool("_XlaMustCompile");
  return [is_xla, call = FunctionCall(setup.node(), name)](KernelContext& context) -> Error {
    Tensors inputs = InputsFrom(context, 0), outputs;
    RunServices services = context.services();
    services.is_xla |= is_xla;
    RETURN_IF_ERROR(call.Run(services, inputs, &outputs));
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
  return [then_call = FunctionCall(setup.node(), then_name),
          else_call = FunctionCall(setup.node(), else_name)](KernelContext& context) -> Error {
    ASSIGN_OR_RETURN(bool condition, IsTrue(context.input(0)));
    Tensors inputs = InputsFrom(context, 1), outputs;
    RETURN_IF_ERROR((condition ? then_call : else_call).Run(context.services(), inputs, &outputs));
    return SetOutputs(context, outputs);
  };
}

Expected<KernelFn> MakeCase(const KernelSetup& setup) {
  auto attr = setup.node().FindAttr("branches");
  std::vector<FunctionCall> calls;
  if (attr) {
    for (llvm::StringRef name : attr->FuncNames()) calls.emplace_back(setup.node(), name);
  }
  if (calls.empty()) return MakeError("attribute 'branches' is missing or names no function");
  return [calls = std::move(calls)](KernelContext& context) -> Error {
    int64_t index = context.input(0).IntAt(0);
    // An index out of range selects the last branch.
    if (index < 0 || index >= static_cast<int64_t>(calls.size())) index = calls.size() - 1;
    Tensors inputs = InputsFrom(context, 1), outputs;
    RETURN_IF_ERROR(calls[index].Run(context.services(), inputs, &outputs));
    return SetOutputs(context, outputs);
  };
}

Error InIteration(int64_t number, Error error) {
  return Annotate("iteration " + llvm::Twine(number), std::move(error));
}

// Evaluates the condition. Its function gets only the values that it reads, and drops them again,
// so that the body can update a value in place if nothing else refers to it.
Expected<bool> GoesOn(FunctionCall::Compiled& cond, int64_t iteration, llvm::ArrayRef<Tensor> state,
                      llvm::MutableArrayRef<Tensor> given) {
  for (size_t i = 0; i < state.size(); ++i) {
    if (cond.Reads(static_cast<int>(i))) given[i] = state[i];
  }
  Tensor answer;
  RETURN_IF_ERROR(cond.Run(given, answer, iteration));
  for (Tensor& input : given) {
    if (input) input = Tensor();
  }
  return IsTrue(answer);
}

Error Loop(KernelContext& context, const FunctionCall& cond_call, const FunctionCall& body_call) {
  Tensors first = InputsFrom(context, 0), second(first.size()), given(first.size());
  auto cond = cond_call.Begin(context.services(), first.size());
  if (!cond) return InIteration(0, cond.takeError());
  if (cond->num_results() != 1) {
    return MakeError("the loop's condition gives {0} results, expected 1", cond->num_results());
  }
  // The body is compiled on first use: a loop without iterations does not need it.
  std::optional<FunctionCall::Compiled> body;
  llvm::MutableArrayRef<Tensor> state = first, next = second;
  for (int64_t iteration = 0;; ++iteration) {
    auto goes_on = GoesOn(*cond, iteration, state, given);
    if (!goes_on) return InIteration(iteration, goes_on.takeError());
    if (!*goes_on) return SetOutputs(context, state);
    if (!body) {
      auto begun = body_call.Begin(context.services(), state.size());
      if (!begun) return InIteration(iteration, begun.takeError());
      body.emplace(std::move(*begun));
      if (body->num_results() != static_cast<int>(next.size())) {
        return MakeError("the loop's body gives {0} results, expected {1}", body->num_results(),
                         next.size());
      }
    }
    if (Error error = body->Run(state, next, iteration))
      return InIteration(iteration, std::move(error));
    std::swap(state, next);
  }
}

Expected<KernelFn> MakeWhile(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(std::string cond_name, FunctionAttr(setup.node(), "cond"));
  ASSIGN_OR_RETURN(std::string body_name, FunctionAttr(setup.node(), "body"));
  return [cond = FunctionCall(setup.node(), cond_name),
          body = FunctionCall(setup.node(), body_name)](KernelContext& context) -> Error {
    return Loop(context, cond, body);
  };
}

GRAPNEL_CPU_KERNEL("PartitionedCall", MakeCall, KernelCost::kWide);
GRAPNEL_CPU_KERNEL("StatefulPartitionedCall", MakeCall, KernelCost::kWide);
GRAPNEL_CPU_KERNEL(kFunctionAsOp, MakeDirectCall, KernelCost::kWide);
GRAPNEL_CPU_KERNEL("If", MakeIf, KernelCost::kWide);
GRAPNEL_CPU_KERNEL("StatelessIf", MakeIf, KernelCost::kWide);
GRAPNEL_CPU_KERNEL("Case", MakeCase, KernelCost::kWide, OneElement(0));
GRAPNEL_CPU_KERNEL("StatelessCase", MakeCase, KernelCost::kWide, OneElement(0));
GRAPNEL_CPU_KERNEL("While", MakeWhile, KernelCost::kWide);
GRAPNEL_CPU_KERNEL("StatelessWhile", MakeWhile, KernelCost::kWide);

}  // namespace
}  // namespace grapnel
