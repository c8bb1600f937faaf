// TensorList ops on single elements: create, read, write, grow.
#include "kernels/cpu/state/tensor_list.h"

#include <cstring>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// Elements are shared and never modified.
TensorListRef CopyOf(const TensorList& list) {
  TensorListRef copy(new TensorList);
  copy->element_dtype = list.element_dtype;
  copy->element_shape = list.element_shape;
  copy->max_elements = list.max_elements;
  copy->tensors = list.tensors;
  return copy;
}

}  // namespace

Expected<const TensorList*> ListIn(const KernelContext& ctx, int i) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.dtype() == proto::DT_VARIANT && tensor.num_elements() == 1) {
    if (auto* list = dynamic_cast<TensorList*>(tensor.data<ObjectRef>()->get())) return list;
  }
  return MakeError("input {0} is {1}, a list of tensors was expected", i, tensor.ToString());
}

Expected<const TensorList*> ListOf(const KernelContext& ctx, int i, DataType dtype) {
  ASSIGN_OR_RETURN(const TensorList* list, ListIn(ctx, i));
  if (list->element_dtype == dtype) return list;
  return MakeError("input {0} is a {1}, elements of {2} were expected", i, list->ToString(),
                   DataTypeName(dtype));
}

Expected<TensorList*> ListForWriting(KernelContext& ctx, int i, int out) {
  RETURN_IF_ERROR(ListIn(ctx, i).takeError());
  Tensor handle = ctx.TakeInput(i);
  auto* list = static_cast<TensorList*>(handle.data<ObjectRef>()->get());
  if (!handle.OwnsAlone() || list->IsShared()) {
    TensorListRef copy = CopyOf(*list);
    list = copy.get();
    handle = Tensor::OfObject(proto::DT_VARIANT, std::move(copy));
  }
  ctx.SetOutput(out, std::move(handle));
  return list;
}

TensorList* NewList(KernelContext& ctx, int out, DataType dtype, Shape element_shape) {
  TensorListRef list(new TensorList);
  list->element_dtype = dtype;
  list->element_shape = std::move(element_shape);
  ctx.SetOutput(out, Tensor::OfObject(proto::DT_VARIANT, list));
  return list.get();
}

Expected<Shape> ElementShapeFrom(const Tensor& tensor) {
  if (tensor.rank() == 0) {
    if (tensor.IntAt(0) == -1) return Shape::Unknown();
    return MakeError("an element shape is a vector, or -1 for any; got the scalar {0}",
                     tensor.IntAt(0));
  }
  Shape shape{llvm::ArrayRef<int64_t>()};
  for (int64_t size : IntsOf(tensor)) {
    if (size < -1) return MakeError("size {0} in the element shape must be at least -1", size);
    shape.Append(size);
  }
  return shape;
}

bool Fits(llvm::ArrayRef<int64_t> dims, const Shape& shape) {
  return MergeShapes(Shape(dims), shape).has_value();
}

Error CheckFits(const TensorList& list, const Tensor& item) {
  if (item.dtype() != list.element_dtype) {
    return MakeError("an element of dtype {0} does not fit a list of {1}",
                     DataTypeName(item.dtype()), DataTypeName(list.element_dtype));
  }
  if (!Fits(item.dims(), list.element_shape)) {
    return MakeError("an element of shape {0} does not fit a list of elements of shape {1}",
                     DimsText(item.dims()), list.element_shape.ToString());
  }
  return Error::success();
}

Expected<Dims> ShapeOfUnset(const TensorList& list, const Shape& asked) {
  std::optional<Shape> shape = MergeShapes(list.element_shape, asked);
  for (const Tensor& tensor : list.tensors) {
    if (shape && shape->IsFullyKnown()) break;
    if (shape && tensor) shape = MergeShapes(*shape, Shape(tensor.dims()));
  }
  if (!shape) {
    return MakeError(
        "the requested shape {0}, the list's element shape {1} and the shapes of its elements do "
        "not fit together",
        asked.ToString(), list.element_shape.ToString());
  }
  if (!shape->IsFullyKnown()) {
    return MakeError("the elements' shape {0} is not known in full, and no element was ever set",
                     shape->ToString());
  }
  return Dims(shape->dims());
}

Expected<Tensor> RowOf(KernelContext& ctx, const Tensor& tensor, int64_t i) {
  Tensor row = tensor.Slice(i, i + 1).Reshaped(tensor.dims().drop_front());
  // Kernels read aligned vectors from the start of a tensor, so an unaligned row is copied.
  if (row.offset() % 64 == 0) return row;
  ASSIGN_OR_RETURN(Tensor copy, ctx.Scratch(row.dtype(), row.dims()));
  CopyElements(row.dtype(), row.raw(), copy.raw(), row.num_elements());
  return copy;
}

Expected<Tensor> Zeros(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> dims) {
  ASSIGN_OR_RETURN(Tensor zeros, ctx.Scratch(dtype, dims));
  std::memset(zeros.raw(), 0, zeros.byte_size());
  return zeros;
}

namespace {

Expected<int64_t> IndexIn(const Tensor& index, const TensorList& list) {
  int64_t i = index.IntAt(0), size = list.tensors.size();
  if (i >= 0 && i < size) return i;
  return MakeError("index {0} is out of range for a list of {1} elements", i, size);
}

Expected<KernelFn> MakeEmpty(const KernelSetup& setup) {
  DataType dtype = setup.node().GetType("element_dtype");
  return KernelFn([dtype](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Shape shape, ElementShapeFrom(ctx.input(0)));
    NewList(ctx, 0, dtype, std::move(shape))->max_elements = ctx.input(1).IntAt(0);
    return Error::success();
  });
}

Expected<KernelFn> MakeReserve(const KernelSetup& setup) {
  DataType dtype = setup.node().GetType("element_dtype");
  return KernelFn([dtype](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Shape shape, ElementShapeFrom(ctx.input(0)));
    return NewList(ctx, 0, dtype, std::move(shape))->Resize(ctx.input(1).IntAt(0));
  });
}

Error GetItem(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx, 0, ctx.output_type(0)));
  ASSIGN_OR_RETURN(int64_t i, IndexIn(ctx.input(1), *list));
  if (list->tensors[i]) {
    ctx.SetOutput(0, list->tensors[i]);
    return Error::success();
  }
  ASSIGN_OR_RETURN(Shape asked, ElementShapeFrom(ctx.input(2)));
  ASSIGN_OR_RETURN(Dims dims, ShapeOfUnset(*list, asked));
  ASSIGN_OR_RETURN(Tensor zeros, Zeros(ctx, list->element_dtype, dims));
  ctx.SetOutput(0, std::move(zeros));
  return Error::success();
}

Expected<KernelFn> MakeSetItem(const KernelSetup& setup) {
  bool grows = setup.node().GetBool("resize_if_index_out_of_bounds");
  return KernelFn([grows](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(TensorList * list, ListForWriting(ctx, 0, 0));
    int64_t i = ctx.input(1).IntAt(0);
    if (grows && i >= static_cast<int64_t>(list->tensors.size()))
      RETURN_IF_ERROR(list->Resize(i + 1));
    RETURN_IF_ERROR(IndexIn(ctx.input(1), *list).takeError());
    RETURN_IF_ERROR(CheckFits(*list, ctx.input(2)));
    list->tensors[i] = ctx.TakeInput(2);
    return Error::success();
  });
}

Error PushBack(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorList * list, ListForWriting(ctx, 0, 0));
  RETURN_IF_ERROR(CheckFits(*list, ctx.input(1)));
  int64_t size = list->tensors.size();
  if (list->max_elements >= 0 && size >= list->max_elements)
    return MakeError("the list is full: it holds {0} elements at most", list->max_elements);
  list->tensors.push_back(ctx.TakeInput(1));
  return Error::success();
}

Error PopBack(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Shape asked, ElementShapeFrom(ctx.input(1)));
  RETURN_IF_ERROR(ListOf(ctx, 0, ctx.output_type(1)).takeError());
  ASSIGN_OR_RETURN(TensorList * list, ListForWriting(ctx, 0, 0));
  if (list->tensors.empty()) return MakeError("the list is empty");
  Tensor last = list->tensors.back();
  if (!last) {
    ASSIGN_OR_RETURN(Dims dims, ShapeOfUnset(*list, asked));
    ASSIGN_OR_RETURN(last, Zeros(ctx, list->element_dtype, dims));
  }
  list->tensors.pop_back();
  ctx.SetOutput(1, std::move(last));
  return Error::success();
}

// Appends one item to each list of a variant tensor.
Error PushBackBatch(KernelContext& ctx) {
  const Tensor handles = ctx.input(0);
  const Tensor& items = ctx.input(1);
  if (items.rank() == 0 || items.dim(0) != handles.num_elements()) {
    return MakeError("{0} lists and items of shape {1}: an item for each was expected",
                     handles.num_elements(), DimsText(items.dims()));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, handles.dims()));
  for (int64_t i = 0; i < handles.num_elements(); ++i) {
    auto* list = dynamic_cast<TensorList*>(handles.data<ObjectRef>()[i].get());
    if (!list) return MakeError("element {0} of input 0 is not a list of tensors", i);
    ASSIGN_OR_RETURN(Tensor item, RowOf(ctx, items, i));
    RETURN_IF_ERROR(CheckFits(*list, item));
    TensorListRef longer = CopyOf(*list);
    longer->tensors.push_back(std::move(item));
    out->data<ObjectRef>()[i] = std::move(longer);
  }
  return Error::success();
}

Error Length(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const TensorList* list, ListIn(ctx, 0));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<int32_t>() = static_cast<int32_t>(list->tensors.size());
  return Error::success();
}

Error Resize(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorList * list, ListForWriting(ctx, 0, 0));
  return list->Resize(ctx.input(1).IntAt(0));
}

Error ElementShape(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const TensorList* list, ListIn(ctx, 0));
  const Shape& shape = list->element_shape;
  Dims values = shape.known_rank() ? Dims(shape.dims()) : Dims{-1};
  Dims dims = shape.known_rank() ? Dims{shape.rank()} : Dims{};
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  for (size_t i = 0; i < values.size(); ++i) {
    if (out->dtype() == proto::DT_INT32)
      out->data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    else
      out->data<int64_t>()[i] = values[i];
  }
  return Error::success();
}

#define GRAPNEL_LIST_KERNEL(op, cost, ...) GRAPNEL_CPU_KERNEL(op, __VA_ARGS__, cost)
GRAPNEL_LIST_KERNEL("EmptyTensorList", KernelCost::kCheap, MakeEmpty, Scalar(1));
GRAPNEL_LIST_KERNEL("TensorListReserve", KernelCost::kCheap, MakeReserve, Scalar(1));
GRAPNEL_LIST_KERNEL("TensorListGetItem", KernelCost::kCheap, KernelOf<GetItem>, Scalar(1));
GRAPNEL_LIST_KERNEL("TensorListSetItem", KernelCost::kCheap, MakeSetItem, Scalar(1));
GRAPNEL_LIST_KERNEL("TensorListPushBack", KernelCost::kCheap, KernelOf<PushBack>);
GRAPNEL_LIST_KERNEL("TensorListPopBack", KernelCost::kCheap, KernelOf<PopBack>);
GRAPNEL_LIST_KERNEL("TensorListPushBackBatch", KernelCost::kElements, KernelOf<PushBackBatch>);
GRAPNEL_LIST_KERNEL("TensorListLength", KernelCost::kCheap, KernelOf<Length>);
GRAPNEL_LIST_KERNEL("TensorListResize", KernelCost::kCheap, KernelOf<Resize>, Scalar(1));
GRAPNEL_LIST_KERNEL("TensorListElementShape", KernelCost::kCheap, KernelOf<ElementShape>);

}  // namespace
}  // namespace grapnel
