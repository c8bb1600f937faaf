// TensorArray ops on whole arrays: from one tensor and to one.
#include <numeric>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/state/tensor_array.h"
#include "kernels/cpu/state/tensor_list.h"

namespace grapnel {
namespace {

Shape ShapeAttr(const KernelSetup& setup, llvm::StringRef key) {
  auto attr = setup.node().Attr(key);
  return attr ? attr->AsShape().value_or(Shape()) : Shape();
}

Dims Behind(int64_t first, llvm::ArrayRef<int64_t> rest) {
  Dims dims = {first};
  dims.append(rest.begin(), rest.end());
  return dims;
}

Expected<std::vector<Tensor>> ReadAll(KernelContext& ctx, TensorArrayObject& array,
                                      llvm::ArrayRef<int64_t> indices) {
  std::vector<Tensor> values;
  for (int64_t i : indices) {
    ASSIGN_OR_RETURN(Tensor value, array.Read(ctx, i));
    values.push_back(std::move(value));
  }
  return values;
}

Dims AllOf(const TensorArrayObject& array) {
  Dims all(array.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Error CheckType(const KernelContext& ctx, const TensorArrayObject& array) {
  if (ctx.output_type(0) == array.dtype) return Error::success();
  return MakeError("cannot read {0} from an array of {1}", DataTypeName(ctx.output_type(0)),
                   DataTypeName(array.dtype));
}

Error Gather(KernelContext& ctx, const Shape& asked, bool whole) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  std::lock_guard lock(array->mutex);
  RETURN_IF_ERROR(CheckType(ctx, *array));
  if (!whole && ctx.input(1).rank() != 1)
    return MakeError("indices of shape {0}, a vector was expected", DimsText(ctx.input(1).dims()));
  RETURN_IF_ERROR(array->RestrictShape(asked));
  Dims indices = whole ? AllOf(*array) : IntsOf(ctx.input(1));
  if (indices.empty()) {
    const Shape& shape = array->element_shape;
    if (!shape.IsFullyKnown()) {
      return MakeError("nothing is gathered, and the elements' shape {0} is not known in full",
                       shape.ToString());
    }
    return ctx.Allocate(0, Behind(0, shape.dims())).takeError();
  }
  ASSIGN_OR_RETURN(std::vector<Tensor> values, ReadAll(ctx, *array, indices));
  for (size_t k = 1; k < values.size(); ++k) {
    if (values[k].dims() == values[0].dims()) continue;
    return MakeError("elements {0} and {1} are of different shapes, {2} and {3}", indices[0],
                     indices[k], DimsText(values[0].dims()), DimsText(values[k].dims()));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, Behind(values.size(), values[0].dims())));
  int64_t row = values[0].num_elements();
  double cost = 10 + row * static_cast<double>(ElementSize(out->dtype())) * 0.08;
  ctx.ParallelFor(values.size(), cost, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      CopyElements(out->dtype(), values[k].raw(), At(*out, k * row), row);
  });
  return Error::success();
}

template <bool whole>
Expected<KernelFn> MakeGather(const KernelSetup& setup) {
  Shape asked = ShapeAttr(setup, "element_shape");
  return KernelFn([asked](KernelContext& ctx) { return Gather(ctx, asked, whole); });
}

// Writes row k of `value` to element indices[k] or, in TensorArrayUnpack (`whole`), to element k.
template <bool whole>
Error Scatter(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  std::lock_guard lock(array->mutex);
  const Tensor& value = ctx.input(whole ? 1 : 2);
  if (value.rank() == 0) return MakeError("a scalar has no rows to make elements of");
  Dims indices;
  if (whole) {
    indices.resize(value.dim(0));
    std::iota(indices.begin(), indices.end(), 0);
  } else {
    indices = IntsOf(ctx.input(1));
  }
  if (static_cast<int64_t>(indices.size()) != value.dim(0)) {
    return MakeError("{0} indices for a tensor of shape {1}: one for each row was expected",
                     indices.size(), DimsText(value.dims()));
  }
  if (whole && !array->grows && array->size() != value.dim(0)) {
    return MakeError(
        "{0} rows for an array of {1} elements that does not grow: one for each was expected",
        value.dim(0), array->size());
  }
  for (size_t k = 0; k < indices.size(); ++k) {
    ASSIGN_OR_RETURN(Tensor row, RowOf(ctx, value, k));
    RETURN_IF_ERROR(array->Write(ctx, indices[k], std::move(row)));
  }
  ctx.SetOutput(0, ctx.TakeInput(whole ? 2 : 3));
  return Error::success();
}

// Concatenates the elements along their first dimension, and outputs the length of each.
Error Concat(KernelContext& ctx, const Shape& asked) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  std::lock_guard lock(array->mutex);
  RETURN_IF_ERROR(CheckType(ctx, *array));
  if (array->size() == 0) {
    if (!asked.IsFullyKnown()) {
      return MakeError("the array is empty, and element_shape_except0 {0} is not known in full",
                       asked.ToString());
    }
    RETURN_IF_ERROR(ctx.Allocate(0, Behind(0, asked.dims())).takeError());
    return ctx.Allocate(1, {0}).takeError();
  }
  ASSIGN_OR_RETURN(std::vector<Tensor> values, ReadAll(ctx, *array, AllOf(*array)));
  ASSIGN_OR_RETURN(Tensor * lengths, ctx.Allocate(1, {array->size()}));
  int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].rank() == 0)
      return MakeError("element {0} is a scalar: it has no dimension to concatenate along", i);
    auto rest = values[i].dims().drop_front();
    if (rest != values[0].dims().drop_front() || !Fits(rest, asked)) {
      return MakeError("element {0} is of shape {1}: past the first dimension {2} was expected", i,
                       DimsText(values[i].dims()),
                       i ? DimsText(values[0].dims().drop_front()) : asked.ToString());
    }
    total += lengths->data<int64_t>()[i] = values[i].dim(0);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, Behind(total, values[0].dims().drop_front())));
  int64_t at = 0;
  for (const Tensor& value : values) {
    CopyElements(out->dtype(), value.raw(), At(*out, at), value.num_elements());
    at += value.num_elements();
  }
  return Error::success();
}

Expected<KernelFn> MakeConcat(const KernelSetup& setup) {
  Shape asked = ShapeAttr(setup, "element_shape_except0");
  return KernelFn([asked](KernelContext& ctx) { return Concat(ctx, asked); });
}

Error Split(KernelContext& ctx) {
  ASSIGN_OR_RETURN(TensorArrayObject * array, ArrayIn(ctx, 0));
  std::lock_guard lock(array->mutex);
  const Tensor& value = ctx.input(1);
  if (ctx.input(2).rank() != 1)
    return MakeError("lengths of shape {0}, a vector was expected", DimsText(ctx.input(2).dims()));
  Dims lengths = IntsOf(ctx.input(2));
  if (value.rank() == 0) return MakeError("a scalar cannot be split");
  int64_t total = 0, count = static_cast<int64_t>(lengths.size());
  for (int64_t length : lengths) {
    if (length < 0) return MakeError("a part cannot have length {0}", length);
    if (length > value.dim(0) - total)
      return MakeError("the parts have more rows than a tensor of shape {0}: {1}",
                       DimsText(value.dims()), IntsText(lengths));
    total += length;
  }
  if (total != value.dim(0)) {
    return MakeError("the parts have {0} rows in total, the tensor has shape {1}", total,
                     DimsText(value.dims()));
  }
  if (array->size() != count && !array->grows) {
    return MakeError(
        "{0} parts for an array of {1} elements that does not grow: one for each was expected",
        count, array->size());
  }
  int64_t at = 0;
  for (int64_t i = 0; i < count; at += lengths[i++]) {
    Tensor part = value.Slice(at, at + lengths[i]);
    ASSIGN_OR_RETURN(Tensor copy, ctx.Scratch(part.dtype(), part.dims()));
    CopyElements(part.dtype(), part.raw(), copy.raw(), part.num_elements());
    RETURN_IF_ERROR(array->Write(ctx, i, std::move(copy)));
  }
  ctx.SetOutput(0, ctx.TakeInput(3));
  return Error::success();
}

#define GRAPNEL_ARRAY_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
GRAPNEL_ARRAY_KERNEL("TensorArrayPack", MakeGather<true>);
GRAPNEL_ARRAY_KERNEL("TensorArrayUnpack", KernelOf<Scatter<true>>);
GRAPNEL_ARRAY_KERNEL("TensorArrayGather", MakeGather<false>);
GRAPNEL_ARRAY_KERNEL("TensorArrayGatherV2", MakeGather<false>);
GRAPNEL_ARRAY_KERNEL("TensorArrayGatherV3", MakeGather<false>);
GRAPNEL_ARRAY_KERNEL("TensorArrayScatter", KernelOf<Scatter<false>>);
GRAPNEL_ARRAY_KERNEL("TensorArrayScatterV2", KernelOf<Scatter<false>>);
GRAPNEL_ARRAY_KERNEL("TensorArrayScatterV3", KernelOf<Scatter<false>>);
GRAPNEL_ARRAY_KERNEL("TensorArrayConcat", MakeConcat);
GRAPNEL_ARRAY_KERNEL("TensorArrayConcatV2", MakeConcat);
GRAPNEL_ARRAY_KERNEL("TensorArrayConcatV3", MakeConcat);
GRAPNEL_ARRAY_KERNEL("TensorArraySplit", KernelOf<Split>);
GRAPNEL_ARRAY_KERNEL("TensorArraySplitV2", KernelOf<Split>);
GRAPNEL_ARRAY_KERNEL("TensorArraySplitV3", KernelOf<Split>);

}  // namespace
}  // namespace grapnel
