// RaggedFillEmptyRows; RaggedTensorToVariantGradient.
#include <algorithm>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/ragged/variant.h"

namespace grapnel {
namespace {

// Outputs rows in ascending order, and the elements of a row in input order.
Error FillEmptyRows(KernelContext& ctx) {
  const Tensor &row_of = ctx.input(0), &values = ctx.input(1), &fill = ctx.input(3);
  if (row_of.rank() != 1 || values.rank() != 1 || row_of.dim(0) != values.dim(0))
    return MakeError(
        "value_rowids and values must be vectors of one length, got shapes {0} and {1}",
        DimsText(row_of.dims()), DimsText(values.dims()));
  if (ctx.input(2).num_elements() != 1) return MakeError("nrows must have one element");
  if (fill.num_elements() != 1) return MakeError("default_value must have one element");
  int64_t count = row_of.dim(0), rows = ctx.input(2).IntAt(0);
  if (rows < 0) return MakeError("nrows must not be negative, got {0}", rows);
  ASSIGN_OR_RETURN(Tensor * empty, ctx.Allocate(2, {rows}));
  ASSIGN_OR_RETURN(Tensor next_of, ctx.Scratch(proto::DT_INT64, {rows}));
  int64_t* next = next_of.data<int64_t>();  // first the size of each row, then its next position
  std::fill_n(next, rows, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = row_of.IntAt(i);
    if (row < 0 || row >= rows)
      return MakeError("value_rowids[{0}] = {1} is not in [0, {2})", i, row, rows);
    ++next[row];
  }
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    empty->data<bool>()[row] = next[row] == 0;
    int64_t size = std::max<int64_t>(next[row], 1);
    next[row] = total;
    total += size;
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {total}));
  ASSIGN_OR_RETURN(Tensor * out_values, ctx.Allocate(1, {total}));
  ASSIGN_OR_RETURN(Tensor * map, ctx.Allocate(3, {count}));
  for (int64_t row = 0; row < rows; ++row) {
    if (!empty->data<bool>()[row]) continue;
    out->data<int64_t>()[next[row]] = row;
    CopyElements(fill.dtype(), fill.raw(), At(*out_values, next[row]), 1);
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = next[row_of.IntAt(i)]++;
    out->data<int64_t>()[at] = row_of.IntAt(i);
    CopyElements(values.dtype(), At(values, i), At(*out_values, at), 1);
    map->data<int64_t>()[i] = at;
  }
  return Error::success();
}

// Concatenates the gradients of rows given as variants, matching the rows of the forward pass.
Error VariantGradient(KernelContext& ctx) {
  const Tensor &encoded = ctx.input(0), &splits = ctx.input(1), &shape = ctx.input(2);
  if (splits.rank() > 1 || splits.num_elements() == 0)
    return MakeError("row_splits must be a scalar or a vector, and not empty, got shape {0}",
                     DimsText(splits.dims()));
  for (int64_t i = 0; i < splits.num_elements(); ++i) {
    if (i == 0 ? splits.IntAt(i) == 0 : splits.IntAt(i) >= splits.IntAt(i - 1)) continue;
    return MakeError("row_splits {0} must start with 0 and not decrease", splits.ToString());
  }
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(shape));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  int64_t at = 0;
  for (int64_t i = 0; i < encoded.num_elements(); ++i) {
    auto* value = dynamic_cast<RaggedValue*>(encoded.data<ObjectRef>()[i].get());
    if (!value) return MakeError("element {0} of encoded_ragged_grad is not a ragged tensor", i);
    const Tensor& part = value->values;
    if (part.dtype() != out->dtype() || part.num_elements() > out->num_elements() - at)
      return MakeError(
          "element {1} of dtype {3} brings the gradients to {0} values, which do not fit into {2}",
          at + part.num_elements(), i, out->ToString(0), DataTypeName(part.dtype()));
    CopyElements(part.dtype(), part.raw(), At(*out, at), part.num_elements());
    at += part.num_elements();
  }
  if (at == out->num_elements()) return Error::success();
  return MakeError("the gradients have {0} values, {1} were expected", at, out->num_elements());
}

GRAPNEL_CPU_KERNEL("RaggedFillEmptyRows", KernelOf<FillEmptyRows>);
GRAPNEL_CPU_KERNEL("RaggedTensorToVariantGradient", KernelOf<VariantGradient>);

}  // namespace
}  // namespace grapnel
