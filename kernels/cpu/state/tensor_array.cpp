// TensorArray ops on single elements: create, write, read, and gradients. Handles of versions 1 and
// 2 are strings in a GraphDef; here they are resources, as in version 3.
#include "kernels/cpu/state/tensor_array.h"

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/state/tensor_list.h"
#include "lib/support/memory_budget.h"

namespace grapnel {

std::string TensorArrayObject::ToString() const {
  return llvm::formatv("array of {0} {1}{2}", elements.size(), DataTypeName(dtype),
                       element_shape.ToString())
      .str();
}

Expected<TensorArrayObject*> ArrayIn(const KernelContext& ctx, int i) {
  const Tensor& tensor = ctx.input(i);
  TensorArrayObject* array = nullptr;
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1)
    array = dynamic_cast<TensorArrayObject*>(tensor.data<ObjectRef>()->get());
  if (!array)
    return MakeError("input {0} is {1}, a tensor array was expected", i, tensor.ToString());
  if (array->closed) return MakeError("the tensor array is closed");
  return array;
}

Error TensorArrayObject::RestrictShape(const Shape& shape) {
  std::optional<Shape> merged = MergeShapes(element_shape, shape);
  if (!merged) {
    return MakeError("expected elements of shape {0}, the array has {1}", shape.ToString(),
                     element_shape.ToString());
  }
  element_shape = *merged;
  return Error::success();
}

Error TensorArrayObject::Reserve(int64_t size) {
  if (size <= this->size()) return Error::success();
  if (!grows)
    return MakeError("element {0} is out of range for an array of {1} elements that does not grow",
                     size - 1, this->size());
  RETURN_IF_ERROR(CheckMemory(size, sizeof(elements[0])));
  elements.resize(size);
  return Error::success();
}

namespace {

// Returns a + b in new memory, because a reader may still hold `a`.
Expected<Tensor> SumOf(KernelContext& ctx, const Tensor& a, const Tensor& b) {
  ASSIGN_OR_RETURN(Tensor sum, ctx.Scratch(a.dtype(), a.dims()));
  bool known = ForType(a.dtype(), NumberTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *x = a.data<T>(), *y = b.data<T>();
    T* out = sum.data<T>();
    for (int64_t i = 0; i < sum.num_elements(); ++i) out[i] = AddOf(x[i], y[i]);
    return true;
  });
  if (!known) return MakeError("cannot add elements of {0}", DataTypeName(a.dtype()));
  return sum;
}

}  // namespace

Error TensorArrayObject::Write(KernelContext& ctx, int64_t i, Tensor value) {
  if (i < 0) return MakeError("element index {0} is negative", i);
  RETURN_IF_ERROR(Reserve(i + 1));
  if (value.dtype() != dtype) {
    return MakeError("a value of {0} does not fit element {1} of an array of {2}",
                     DataTypeName(value.dtype()), i, DataTypeName(dtype));
  }
  if (!Fits(value.dims(), element_shape)) {
    return MakeError("an element of shape {0} does not fit an array of elements of shape {1}",
                     DimsText(value.dims()), element_shape.ToString());
  }
  Element& element = elements[i];
  if (element.read) return MakeError("element {0} was already read: it cannot be written", i);
  if (element.written && !adds_up) return MakeError("element {0} was already written", i);
  if (element.written && value.dims() != llvm::ArrayRef<int64_t>(element.dims)) {
    return MakeError("a value of shape {0} cannot be added to element {1} of shape {2}",
                     DimsText(value.dims()), i, DimsText(element.dims));
  }
  if (element.value) {
    ASSIGN_OR_RETURN(element.value, SumOf(ctx, element.value, value));
    was_added = true;
    return Error::success();
  }
  if (same_shapes && !element.written) RETURN_IF_ERROR(RestrictShape(Shape(value.dims())));
  element.dims.assign(value.dims().begin(), value.dims().end());
  element.value = std::move(value);
  element.written = true;
  return Error::success();
}

Expected<Tensor> TensorArrayObject::Read(KernelContext& ctx, int64_t i) {
  if (i < 0 || i >= size())
    return MakeError("element {0} is out of range for an array of {1} elements", i, size());
  Element& element = elements[i];
  if (element.cleared) {
    return MakeError("element {0} was already read and then cleared (clear_after_read is true)", i);
  }
  if (!element.written) {
    if (!element_shape.IsFullyKnown()) {
      return MakeError("element {0} was never written, and its shape {1} is not known in full", i,
                       element_shape.ToString());
    }
    element.dims.assign(element_shape.dims().begin(), element_shape.dims().end());
  }
  if (!element.value) {
    if (DataTypeSize(dtype) == 0) {
      ASSIGN_OR_RETURN(element.value, ctx.Scratch(dtype, element.dims));
    } else {
      ASSIGN_OR_RETURN(element.value, Zeros(ctx, dtype, element.dims));
    }
  }
  element.read = true;
  if (!clears_after_read) return element.value;
  element.cleared = true;
  return std::move(element.value);
}

namespace {

Error PutOut(KernelContext& ctx, ObjectRef array) {
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(array)));
  if (ctx.num_outputs() < 2) return Error::success();
  ASSIGN_OR_RETURN(Tensor * flow, ctx.Allocate(1, {}));
  *flow->data<float>() = 0;
  return Error::success();
}

Expected<KernelFn> MakeArray(const KernelSetup& setup) {
  const Node& node = setup.node();
  DataType dtype = node.GetType("dtype");
  auto attr = node.Attr("element_shape");
  Shape shape = attr ? attr->AsShape().value_or(Shape()) : Shape();
  bool grows = node.GetBool("dynamic_size"), clears = node.GetBool("clear_after_read", true);
  bool same_shapes = node.GetBool("identical_element_shapes");
  return KernelFn([=](KernelContext& ctx) -> Error {
    const Tensor& size = ctx.input(0);
    if (size.num_elements() != 1)
      return MakeError("the size has shape {0}, one element was expected", DimsText(size.dims()));
    if (size.IntAt(0) < 0) return MakeError("an array cannot have {0} elements", size.IntAt(0));
    llvm::IntrusiveRefCntPtr<TensorArrayObject> array(new TensorArrayObject);
    array->dtype = dtype;
    array->element_shape = shape;
    array->grows = grows;
    array->clears_after_read = clears;
    array->same_shapes = same_shapes;
    RETURN_IF_ERROR(CheckMemory(size.IntAt(0), sizeof(array->elements[0])));
    array->elements.resize(size.IntAt(0));
    return PutOut(ctx, array);
  });
}

// Returns an array with as many elements as `array` and the same shapes, each with `prepended`
// dimensions in front.
llvm::IntrusiveRefCntPtr<TensorArrayObject> GradientOf(TensorArrayObject& array,
                                                       const Dims& prepended) {
  llvm::IntrusiveRefCntPtr<TensorArrayObject> gradient(new TensorArrayObject);
  gradient->dtype = array.dtype;
  if (array.element_shape.known_rank()) {
    Shape shape{llvm::ArrayRef<int64_t>(prepended)};
    for (int64_t dim : array.element_shape.dims()) shape.Append(dim);
    gradient->element_shape = shape;
  }
  gradient->same_shapes = array.same_shapes;
  gradient->adds_up = true;
  gradient->elements.resize(array.size());
  for (int64_t i = 0; i < array.size(); ++i) {
    if (!array.elements[i].written) continue;
    Dims dims = prepended;
    dims.append(array.elements[i].dims.begin(), array.elements[i].dims.end());
    gradient->elements[i].dims = dims;
    gradient->elements[i].written = true;
  }
  return gradient;
}

// The gradient of an array is one array per `source`, created on first use, and again after it was
// closed; from the first use on the array's size is fixed.
Expected<KernelFn> MakeGradient(const KernelSetup& setup) {
  std::string source = setup.node().GetString("source");
  return KernelFn([source](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
    std::lock_guard lock(array->mutex);
    if (array->was_added) {
      return MakeError("an array with an element that was written more than once has no gradient");
    }
    Dims prepended;
    if (ctx.num_inputs() > 2) {
      ASSIGN_OR_RETURN(prepended, ShapeFrom(ctx.input(2)));
    }
    array->grows = false;
    auto& gradient = array->gradients[source];
    if (!gradient || gradient->closed) gradient = GradientOf(*array, prepended);
    return PutOut(ctx, gradient);
  });
}

Error Write(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  const Tensor& index = ctx.input(1);
  if (index.num_elements() != 1)
    return MakeError("the index has shape {0}, one element was expected", DimsText(index.dims()));
  int64_t i = index.IntAt(0);
  std::lock_guard lock(array->mutex);
  RETURN_IF_ERROR(array->Write(ctx, i, ctx.TakeInput(2)));
  ctx.SetOutput(0, ctx.TakeInput(3));
  return Error::success();
}

Error Read(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  const Tensor& index = ctx.input(1);
  if (index.num_elements() != 1)
    return MakeError("the index has shape {0}, one element was expected", DimsText(index.dims()));
  if (ctx.output_type(0) != array->dtype) {
    return MakeError("cannot read {0} from an array of {1}", DataTypeName(ctx.output_type(0)),
                     DataTypeName(array->dtype));
  }
  std::lock_guard lock(array->mutex);
  ASSIGN_OR_RETURN(Tensor value, array->Read(ctx, index.IntAt(0)));
  ctx.SetOutput(0, std::move(value));
  return Error::success();
}

Error Size(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  std::lock_guard lock(array->mutex);
  *out->data<int32_t>() = static_cast<int32_t>(array->size());
  return Error::success();
}

Error Close(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  std::lock_guard lock(array->mutex);
  array->closed = true;
  array->elements.clear();
  return Error::success();
}

#define GRAPNEL_ARRAY_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
#define GRAPNEL_ARRAY_KERNELS(op, make) \
  GRAPNEL_ARRAY_KERNEL(op, make);       \
  GRAPNEL_ARRAY_KERNEL(op "V2", make);  \
  GRAPNEL_ARRAY_KERNEL(op "V3", make)
GRAPNEL_ARRAY_KERNELS("TensorArray", MakeArray);
GRAPNEL_ARRAY_KERNELS("TensorArrayGrad", MakeGradient);
GRAPNEL_ARRAY_KERNEL("TensorArrayGradWithShape", MakeGradient);
GRAPNEL_ARRAY_KERNELS("TensorArrayWrite", KernelOf<Write>);
GRAPNEL_ARRAY_KERNELS("TensorArrayRead", KernelOf<Read>);
GRAPNEL_ARRAY_KERNELS("TensorArraySize", KernelOf<Size>);
GRAPNEL_ARRAY_KERNELS("TensorArrayClose", KernelOf<Close>);

}  // namespace
}  // namespace grapnel
