// Calls and functional control flow: PartitionedCall, If, Case, While, and ops that are functions
// of the library. Each function is compiled when it is first called, so recursion that ends is no
// trouble.
#include "kernels/cpu/function_call.h"

namespace grapnel {
namespace {

std::vector<Tensor> InputsFrom(KernelContext& context, int first) {
  std::vector<Tensor> inputs;
  for (int i = first; i < context.num_inputs(); ++i) inputs.push_back(context.TakeInput(i));
  return inputs;
}

Error SetOutputs(KernelContext& context, std::vector<Tensor> outputs) {
  if (static_cast<int>(outputs.size()) != context.num_outputs()) {
    return MakeError("the function gives {0} results, {1} were expected", outputs.size(),
                     context.num_outputs());
  }
  for (size_t i = 0; i < outputs.size(); ++i) context.SetOutput(i, std::move(outputs[i]));
  return Error::success();
}

Expected<KernelFn> MakeCallOf(const KernelSetup& setup, llvm::StringRef name) {
  return [call = FunctionCall(setup.node(), name)](KernelContext& context) mutable -> Error {
    std::vector<Tensor> outputs;
    RETURN_IF_ERROR(call.Run(context.services(), InputsFrom(context, 0), &outputs));
    return SetOutputs(context, std::move(outputs));
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
        std::vector<Tensor> outputs;
        RETURN_IF_ERROR((condition ? then_call : else_call)
                            .Run(context.services(), InputsFrom(context, 1), &outputs));
        return SetOutputs(context, std::move(outputs));
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
    std::vector<Tensor> outputs;
    RETURN_IF_ERROR(calls[index].Run(context.services(), InputsFrom(context, 1), &outputs));
    return SetOutputs(context, std::move(outputs));
  };
}

Expected<KernelFn> MakeWhile(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(std::string cond_name, FunctionAttr(setup.node(), "cond"));
  ASSIGN_OR_RETURN(std::string body_name, FunctionAttr(setup.node(), "body"));
  return [cond = FunctionCall(setup.node(), cond_name),
          body = FunctionCall(setup.node(), body_name)](KernelContext& context) mutable -> Error {
    std::vector<Tensor> state = InputsFrom(context, 0), verdict;
    for (;;) {
      RETURN_IF_ERROR(cond.Run(context.services(), state, &verdict));
      if (verdict.size() != 1)
        return MakeError("the loop's condition gives {0} results, 1 was expected", verdict.size());
      ASSIGN_OR_RETURN(bool go_on, IsTrue(verdict[0]));
      if (!go_on) return SetOutputs(context, std::move(state));
      std::vector<Tensor> next;
      RETURN_IF_ERROR(body.Run(context.services(), std::move(state), &next));
      state = std::move(next);
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
