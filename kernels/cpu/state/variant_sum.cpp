// AddN and ZerosLike of variants: tensor lists and optionals, element by element. The gradient of a
// loop uses these ops to sum the gradients of several readers of a list.
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/math/addn.h"
#include "kernels/cpu/state/tensor_list.h"
#include "lib/exec/dataset.h"

namespace grapnel {
namespace {

Expected<Tensor> SumOf(KernelContext& ctx, const Tensor& a, const Tensor& b);
Expected<Tensor> ZerosOf(KernelContext& ctx, const Tensor& like);

Expected<Tensor> SumOfLists(KernelContext& ctx, const TensorList& a, const TensorList& b) {
  auto refuse = [&](const char* why) {
    return MakeError("cannot add a {0} and a {1}: {2}", a.ToString(), b.ToString(), why);
  };
  if (a.element_dtype != b.element_dtype) return refuse("their elements have different dtypes");
  if (a.tensors.size() != b.tensors.size()) return refuse("their lengths differ");
  std::optional<Shape> shape = MergeShapes(a.element_shape, b.element_shape);
  if (!shape) return refuse("their element shapes differ");
  TensorListRef sum(new TensorList);
  sum->element_dtype = a.element_dtype;
  sum->element_shape = *shape;
  sum->max_elements = a.max_elements;
  RETURN_IF_ERROR(sum->Resize(static_cast<int64_t>(a.tensors.size())));
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    if (x && y) {
      ASSIGN_OR_RETURN(sum->tensors[i], SumOf(ctx, x, y));
    } else {
      sum->tensors[i] = x ? x : y;  // an element that was never set reads as zeros
    }
  }
  return Tensor::OfObject(proto::DT_VARIANT, std::move(sum));
}

Expected<Tensor> SumOfOptionals(KernelContext& ctx, const Optional& a, const Optional& b) {
  if (a.value.has_value() != b.value.has_value())
    return MakeError("cannot add an optional with a value and one without");
  llvm::IntrusiveRefCntPtr<Optional> sum(new Optional);
  if (a.value) {
    if (a.value->size() != b.value->size())
      return MakeError("cannot add optional values of {0} and {1} tensors", a.value->size(),
                       b.value->size());
    sum->value.emplace();
    for (size_t i = 0; i < a.value->size(); ++i) {
      ASSIGN_OR_RETURN(Tensor part, SumOf(ctx, (*a.value)[i], (*b.value)[i]));
      sum->value->push_back(std::move(part));
    }
  }
  return Tensor::OfObject(proto::DT_VARIANT, std::move(sum));
}

Expected<Tensor> SumOf(KernelContext& ctx, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims())
    return MakeError("cannot add {0} and {1}: their dtypes or shapes differ", a.ToString(0),
                     b.ToString(0));
  if (a.dtype() == proto::DT_VARIANT && a.num_elements() == 1) {
    const Object *x = a.data<ObjectRef>()->get(), *y = b.data<ObjectRef>()->get();
    auto *list = dynamic_cast<const TensorList*>(x), *other = dynamic_cast<const TensorList*>(y);
    if (list && other) return SumOfLists(ctx, *list, *other);
    auto *value = dynamic_cast<const Optional*>(x), *another = dynamic_cast<const Optional*>(y);
    if (value && another) return SumOfOptionals(ctx, *value, *another);
  }
  AddLoop add = AddLoopFor(a.dtype());
  if (!add)
    return MakeError("cannot add {0} and {1}: their elements are not numbers", a.ToString(0),
                     b.ToString(0));
  ASSIGN_OR_RETURN(Tensor sum, ctx.Scratch(a.dtype(), a.dims()));
  add(a.raw(), b.raw(), sum.raw(), a.num_elements());
  return sum;
}

Error AddVariants(KernelContext& ctx) {
  if (ctx.num_inputs() == 0) return MakeError("the node has no inputs to add");
  Tensor sum = ctx.input(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(sum, SumOf(ctx, sum, ctx.input(i)));
  }
  ctx.SetOutput(0, std::move(sum));
  return Error::success();
}

Expected<Tensor> ZerosOfList(KernelContext& ctx, const TensorList& list) {
  TensorListRef zeros(new TensorList);
  zeros->element_dtype = list.element_dtype;
  zeros->element_shape = list.element_shape;
  zeros->max_elements = list.max_elements;
  RETURN_IF_ERROR(zeros->Resize(static_cast<int64_t>(list.tensors.size())));
  for (size_t i = 0; i < list.tensors.size(); ++i) {
    if (!list.tensors[i]) continue;  // never set: reads as zeros already
    ASSIGN_OR_RETURN(zeros->tensors[i], ZerosOf(ctx, list.tensors[i]));
  }
  return Tensor::OfObject(proto::DT_VARIANT, std::move(zeros));
}

Expected<Tensor> ZerosOfOptional(KernelContext& ctx, const Optional& optional) {
  llvm::IntrusiveRefCntPtr<Optional> zeros(new Optional);
  if (optional.value) {
    zeros->value.emplace();
    for (const Tensor& part : *optional.value) {
      ASSIGN_OR_RETURN(Tensor zero, ZerosOf(ctx, part));
      zeros->value->push_back(std::move(zero));
    }
  }
  return Tensor::OfObject(proto::DT_VARIANT, std::move(zeros));
}

Expected<Tensor> ZerosOf(KernelContext& ctx, const Tensor& like) {
  if (like.dtype() == proto::DT_VARIANT && like.num_elements() == 1) {
    const Object* object = like.data<ObjectRef>()->get();
    if (auto* list = dynamic_cast<const TensorList*>(object)) return ZerosOfList(ctx, *list);
    if (auto* value = dynamic_cast<const Optional*>(object)) return ZerosOfOptional(ctx, *value);
  }
  if (like.dtype() == proto::DT_STRING) return ctx.Scratch(like.dtype(), like.dims());
  if (like.HoldsObjects())
    return MakeError("cannot make zeros like {0}: its elements are objects, not numbers",
                     like.ToString(0));
  return Zeros(ctx, like.dtype(), like.dims());
}

Error ZerosLikeVariant(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Tensor zeros, ZerosOf(ctx, ctx.input(0)));
  ctx.SetOutput(0, std::move(zeros));
  return Error::success();
}

GRAPNEL_CPU_KERNEL("AddN", KernelOf<AddVariants>, OfTypes("T", {proto::DT_VARIANT}));
GRAPNEL_CPU_KERNEL("ZerosLike", KernelOf<ZerosLikeVariant>, OfTypes("T", {proto::DT_VARIANT}));

}  // namespace
}  // namespace grapnel
