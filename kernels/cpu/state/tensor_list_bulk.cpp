// TensorList ops on whole lists: from one tensor and to one.
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/state/tensor_list.h"

namespace grapnel {
namespace {

// Checks that the rows of the tensor match the shape `asked`.
Error CheckRows(const Tensor& tensor, const Shape& asked) {
  if (tensor.rank() == 0) return MakeError("a scalar has no rows to make a list of");
  if (Fits(tensor.dims().drop_front(), asked)) return Error::success();
  return MakeError("a list of elements of shape {0} cannot be made from a tensor of shape {1}",
                   asked.ToString(), DimsText(tensor.dims()));
}

Error FromTensor(KernelContext& ctx) {
  const Tensor tensor = ctx.input(0);
  ASSIGN_OR_RETURN(Shape shape, ElementShapeFrom(ctx.input(1)));
  RETURN_IF_ERROR(CheckRows(tensor, shape));
  TensorList* list = NewList(ctx, 0, tensor.dtype(), std::move(shape));
  list->tensors.reserve(tensor.dim(0));
  for (int64_t i = 0; i < tensor.dim(0); ++i) {
    ASSIGN_OR_RETURN(Tensor row, RowOf(ctx, tensor, i));
    list->tensors.push_back(std::move(row));
  }
  return Error::success();
}

// Stacks the elements `picked` of a list. An element that was never set is zeros.
Error StackInto(KernelContext& ctx, const TensorList& list, llvm::ArrayRef<const Tensor*> picked,
                const Shape& asked) {
  const Tensor* first = nullptr;
  for (const Tensor* tensor : picked) {
    if (!first && *tensor) first = tensor;
  }
  bool all_set = llvm::all_of(picked, [](const Tensor* t) { return t->operator bool(); });
  Dims dims;
  if (!picked.empty() && all_set) {
    dims.assign(first->dims().begin(), first->dims().end());
  } else {
    ASSIGN_OR_RETURN(dims, ShapeOfUnset(list, asked));
  }
  if (!Fits(dims, asked)) {
    return MakeError("expected elements of shape {0}, the list has {1}", asked.ToString(),
                     DimsText(dims));
  }
  for (const Tensor* tensor : picked) {
    if (*tensor && tensor->dims() != llvm::ArrayRef<int64_t>(dims)) {
      return MakeError("elements of shapes {0} and {1} cannot be stacked", DimsText(dims),
                       DimsText(tensor->dims()));
    }
  }
  Dims whole = {static_cast<int64_t>(picked.size())};
  whole.append(dims.begin(), dims.end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, whole));
  int64_t row = NumElements(dims).value_or(0);
  int64_t bytes = row * static_cast<int64_t>(ElementSize(out->dtype()));
  ctx.ParallelFor(picked.size(), 10 + bytes * 0.08, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (*picked[i]) {
        CopyElements(out->dtype(), picked[i]->raw(), At(*out, i * row), row);
      } else if (DataTypeSize(out->dtype()) != 0) {
        std::fill_n(At(*out, i * row), bytes, 0);
      }
    }
  });
  return Error::success();
}

std::vector<const Tensor*> AllOf(const TensorList& list) {
  std::vector<const Tensor*> all;
  for (const Tensor& tensor : list.tensors) all.push_back(&tensor);
  return all;
}

Expected<KernelFn> MakeStack(const KernelSetup& setup) {
  int64_t expected = setup.node().GetInt("num_elements", -1);
  return KernelFn([expected](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx, 0, ctx.output_type(0)));
    ASSIGN_OR_RETURN(Shape asked, ElementShapeFrom(ctx.input(1)));
    int64_t size = list->tensors.size();
    if (expected != -1 && expected != size)
      return MakeError("the list has {0} elements, {1} were expected", size, expected);
    return StackInto(ctx, *list, AllOf(*list), asked);
  });
}

Error Gather(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx, 0, ctx.output_type(0)));
  ASSIGN_OR_RETURN(Shape asked, ElementShapeFrom(ctx.input(2)));
  std::vector<const Tensor*> picked;
  for (int64_t i : IntsOf(ctx.input(1))) {
    if (i < 0 || i >= static_cast<int64_t>(list->tensors.size()))
      return MakeError("index {0} is out of range for a list of {1} elements", i,
                       list->tensors.size());
    picked.push_back(&list->tensors[i]);
  }
  // Without elements the shape must be known. TensorFlow does not check the elements that are not
  // gathered.
  std::optional<Shape> said = MergeShapes(list->element_shape, asked);
  if (picked.empty() && said && !said->IsFullyKnown())
    return MakeError("no elements are gathered, and their shape {0} is not known in full",
                     said->ToString());
  return StackInto(ctx, *list, picked, asked);
}

// Writes row k of the tensor to element indices[k]; the list grows as needed.
Error ScatterInto(KernelContext& ctx, TensorList& list, const Tensor& tensor,
                  const Tensor& indices) {
  Dims at = IntsOf(indices);
  if (indices.rank() != 1 || tensor.rank() == 0 ||
      tensor.dim(0) != static_cast<int64_t>(at.size())) {
    return MakeError(
        "indices of shape {0} for a tensor of shape {1}: one for each row was expected",
        DimsText(indices.dims()), DimsText(tensor.dims()));
  }
  for (size_t k = 0; k < at.size(); ++k) {
    if (at[k] < 0) return MakeError("index {0} is negative", at[k]);
    if (at[k] >= static_cast<int64_t>(list.tensors.size())) RETURN_IF_ERROR(list.Resize(at[k] + 1));
    ASSIGN_OR_RETURN(list.tensors[at[k]], RowOf(ctx, tensor, k));
  }
  return Error::success();
}

Error Scatter(KernelContext& ctx) {
  const Tensor tensor = ctx.input(0), indices = ctx.input(1);
  ASSIGN_OR_RETURN(Shape shape, ElementShapeFrom(ctx.input(2)));
  RETURN_IF_ERROR(CheckRows(tensor, shape));
  int64_t size = ctx.num_inputs() > 3 ? ctx.input(3).IntAt(0) : -1;
  if (size < -1) return MakeError("num_elements must be at least -1, got {0}", size);
  for (int64_t i : IntsOf(indices)) {
    if (size >= 0 && i >= size)
      return MakeError("index {0} is out of range for a list of {1} elements", i, size);
  }
  TensorList* list = NewList(ctx, 0, tensor.dtype(), std::move(shape));
  if (size > 0) RETURN_IF_ERROR(list->Resize(size));
  return ScatterInto(ctx, *list, tensor, indices);
}

Error ScatterIntoExisting(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorList * list, ListForWriting(ctx, 0, 0));
  const Tensor& tensor = ctx.input(1);
  RETURN_IF_ERROR(CheckRows(tensor, list->element_shape));
  return ScatterInto(ctx, *list, tensor, ctx.input(2));
}

Error ConcatLists(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const TensorList* second, ListIn(ctx, 1));
  std::vector<Tensor> more = second->tensors;
  DataType dtype = second->element_dtype;
  ASSIGN_OR_RETURN(TensorList * list, ListForWriting(ctx, 0, 0));
  if (dtype != list->element_dtype) {
    return MakeError("cannot concatenate lists of {0} and {1}", DataTypeName(list->element_dtype),
                     DataTypeName(dtype));
  }
  list->tensors.insert(list->tensors.end(), more.begin(), more.end());
  return Error::success();
}

// Concatenates the elements along their first dimension, and outputs the length of each.
// `leading_dims` has the lengths of elements that were never set.
Error Concat(KernelContext& ctx, const Shape& asked, llvm::ArrayRef<int64_t> leading_dims) {
  ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx, 0, ctx.output_type(0)));
  auto rest_of = [](const Shape& shape) {
    return shape.known_rank() && shape.rank() > 0 ? Shape(shape.dims().drop_front()) : Shape();
  };
  for (const Shape* shape : {&asked, &list->element_shape}) {
    if (shape->known_rank() && shape->rank() == 0)
      return MakeError("scalars cannot be concatenated along a first dimension");
  }
  std::optional<Shape> rest = MergeShapes(rest_of(asked), rest_of(list->element_shape));
  for (const Tensor& tensor : list->tensors) {
    if (!tensor) continue;
    if (tensor.rank() == 0)
      return MakeError("scalars cannot be concatenated along a first dimension");
    if (rest) rest = MergeShapes(*rest, Shape(tensor.dims().drop_front()));
  }
  if (!rest)
    return MakeError(
        "the requested shape, the list's element shape and the shapes of its elements do not fit "
        "together past the first dimension");
  if (!rest->IsFullyKnown()) {
    return MakeError("the elements' shape past the first dimension, {0}, is not known in full",
                     rest->ToString());
  }
  const Shape& own = asked.known_rank() && asked.IsKnown(0) ? asked : list->element_shape;
  Dims lengths;
  int64_t total = 0;
  for (size_t i = 0; i < list->tensors.size(); ++i) {
    int64_t length;
    if (list->tensors[i]) {
      length = list->tensors[i].dim(0);
    } else if (own.known_rank() && own.IsKnown(0)) {
      length = own.dim(0);
    } else if (i < leading_dims.size()) {
      length = leading_dims[i];
    } else {
      return MakeError("element {0} was never set, and its length is not known", i);
    }
    if (length < 0 || __builtin_add_overflow(total, length, &total))
      return MakeError(
          "element {0} has length {1}: no length may be negative, and the sum must fit into int64",
          i, length);
    lengths.push_back(length);
  }
  Dims dims = {total};
  dims.append(rest->dims().begin(), rest->dims().end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  ASSIGN_OR_RETURN(Tensor * sizes, ctx.Allocate(1, {static_cast<int64_t>(lengths.size())}));
  int64_t row = rest->NumElements().value_or(0), at = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    sizes->data<int64_t>()[i] = lengths[i];
    int64_t n = lengths[i] * row;
    const Tensor& tensor = list->tensors[i];
    if (tensor)
      CopyElements(out->dtype(), tensor.raw(), At(*out, at), n);
    else if (DataTypeSize(out->dtype()) != 0)
      std::fill_n(At(*out, at), n * DataTypeSize(out->dtype()), 0);
    at += n;
  }
  return Error::success();
}

Expected<KernelFn> MakeConcat(const KernelSetup& setup) {
  auto attr = setup.node().Attr("element_shape");
  Shape asked = attr ? attr->AsShape().value_or(Shape()) : Shape();
  return KernelFn([asked](KernelContext& ctx) { return Concat(ctx, asked, {}); });
}

Error ConcatV2(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Shape asked, ElementShapeFrom(ctx.input(1)));
  return Concat(ctx, asked, IntsOf(ctx.input(2)));
}

Error Split(KernelContext& ctx) {
  const Tensor tensor = ctx.input(0);
  ASSIGN_OR_RETURN(Shape asked, ElementShapeFrom(ctx.input(1)));
  Dims lengths = IntsOf(ctx.input(2));
  if (tensor.rank() == 0) return MakeError("a scalar cannot be split");
  int64_t total = 0;
  for (int64_t length : lengths) {
    if (length < 0 || __builtin_add_overflow(total, length, &total))
      return MakeError(
          "a part has length {0}: no length may be negative, and the sum must fit into int64",
          length);
  }
  if (total != tensor.dim(0)) {
    return MakeError("the parts have {0} rows in total, the tensor has shape {1}", total,
                     DimsText(tensor.dims()));
  }
  TensorList* list = NewList(ctx, 0, tensor.dtype(), asked);
  int64_t at = 0;
  for (int64_t length : lengths) {
    Tensor part = tensor.Slice(at, at + length);
    RETURN_IF_ERROR(CheckFits(*list, part));
    ASSIGN_OR_RETURN(Tensor copy, ctx.Scratch(part.dtype(), part.dims()));
    CopyElements(part.dtype(), part.raw(), copy.raw(), part.num_elements());
    list->tensors.push_back(std::move(copy));
    at += length;
  }
  return Error::success();
}

#define GRAPNEL_LIST_KERNEL(op, ...) GRAPNEL_CPU_KERNEL(op, __VA_ARGS__)
GRAPNEL_LIST_KERNEL("TensorListFromTensor", KernelOf<FromTensor>);
GRAPNEL_LIST_KERNEL("TensorListStack", MakeStack);
GRAPNEL_LIST_KERNEL("TensorListGather", KernelOf<Gather>);
GRAPNEL_LIST_KERNEL("TensorListScatter", KernelOf<Scatter>);
GRAPNEL_LIST_KERNEL("TensorListScatterV2", KernelOf<Scatter>, Scalar(3));
GRAPNEL_LIST_KERNEL("TensorListScatterIntoExistingList", KernelOf<ScatterIntoExisting>);
GRAPNEL_LIST_KERNEL("TensorListConcatLists", KernelOf<ConcatLists>);
GRAPNEL_LIST_KERNEL("TensorListConcat", MakeConcat);
GRAPNEL_LIST_KERNEL("TensorListConcatV2", KernelOf<ConcatV2>);
GRAPNEL_LIST_KERNEL("TensorListSplit", KernelOf<Split>);

}  // namespace
}  // namespace grapnel
