// Stacks of tensors: what the loops of TensorFlow 1 save in each iteration for their gradients.
#include <mutex>

#include "kernels/common/kernel_of.h"

namespace grapnel {
namespace {

class Stack : public Object {
 public:
  std::string ToString() const override {
    return llvm::formatv("stack '{0}' of {1} {2}", name, tensors.size(), DataTypeName(dtype)).str();
  }

  std::mutex mutex;
  std::string name;
  DataType dtype = proto::DT_INVALID;
  int64_t max_size = -1;  // negative: no limit
  bool closed = false;
  std::vector<Tensor> tensors;
};

Expected<Stack*> StackIn(const KernelContext& ctx) {
  const Tensor& tensor = ctx.input(0);
  Stack* stack = nullptr;
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1)
    stack = dynamic_cast<Stack*>(tensor.data<ObjectRef>()->get());
  if (!stack) return MakeError("input 0 is {0}, a stack was expected", tensor.ToString());
  if (stack->closed) return MakeError("stack '{0}' is closed", stack->name);
  return stack;
}

// A stack belongs to its handle, and therefore to one run.
Expected<KernelFn> MakeStack(const KernelSetup& setup) {
  std::string name = setup.node().GetString("stack_name");
  if (name.empty()) name = setup.node().name().str();
  DataType dtype = setup.node().GetType("elem_type");
  return KernelFn([name, dtype](KernelContext& ctx) -> Error {
    llvm::IntrusiveRefCntPtr<Stack> stack(new Stack);
    stack->name = name;
    stack->dtype = dtype;
    if (ctx.num_inputs() > 0) {
      if (ctx.input(0).num_elements() != 1)
        return MakeError("max_size is of shape {0}, one element was expected",
                         DimsText(ctx.input(0).dims()));
      stack->max_size = ctx.input(0).IntAt(0);
    }
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(stack)));
    return Error::success();
  });
}

Error Push(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Stack * stack, StackIn(ctx));
  const Tensor& value = ctx.input(1);
  if (value.dtype() != stack->dtype) {
    return MakeError("a value of {0} does not fit stack '{1}' of {2}", DataTypeName(value.dtype()),
                     stack->name, DataTypeName(stack->dtype));
  }
  std::lock_guard lock(stack->mutex);
  if (stack->max_size >= 0 && static_cast<int64_t>(stack->tensors.size()) >= stack->max_size) {
    return MakeError("stack '{0}' is full: it holds {1} tensors at most", stack->name,
                     stack->max_size);
  }
  stack->tensors.push_back(value);
  ctx.SetOutput(0, value);
  return Error::success();
}

Error Pop(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Stack * stack, StackIn(ctx));
  if (ctx.output_type(0) != stack->dtype) {
    return MakeError("cannot read {0} from stack '{1}' of {2}", DataTypeName(ctx.output_type(0)),
                     stack->name, DataTypeName(stack->dtype));
  }
  std::lock_guard lock(stack->mutex);
  if (stack->tensors.empty()) return MakeError("stack '{0}' is empty", stack->name);
  ctx.SetOutput(0, std::move(stack->tensors.back()));
  stack->tensors.pop_back();
  return Error::success();
}

Error Close(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Stack * stack, StackIn(ctx));
  std::lock_guard lock(stack->mutex);
  stack->closed = true;
  stack->tensors.clear();
  return Error::success();
}

#define GRAPNEL_STACK_KERNEL(op, make)              \
  GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap); \
  GRAPNEL_CPU_KERNEL(op "V2", make, KernelCost::kCheap)
GRAPNEL_STACK_KERNEL("Stack", MakeStack);
GRAPNEL_STACK_KERNEL("StackPush", KernelOf<Push>);
GRAPNEL_STACK_KERNEL("StackPop", KernelOf<Pop>);
GRAPNEL_STACK_KERNEL("StackClose", KernelOf<Close>);

}  // namespace
}  // namespace grapnel
