// Sparse tensors as three dense ones (indices, values, shape): SparseToDense, SparseReorder,
// SparseReshape, SparseFillEmptyRows and its gradient, which RaggedFillEmptyRows shares.
#include <algorithm>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

// --- SparseToDense

Error SparseToDense(KernelContext& ctx, bool validate) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(2), &fill = ctx.input(3);
  if (indices.rank() > 2)
    return MakeError("sparse_indices must be a scalar, vector or matrix, got shape {0}",
                     DimsText(indices.dims()));
  int64_t count = indices.rank() > 0 ? indices.dim(0) : 1;
  int64_t depth = indices.rank() > 1 ? indices.dim(1) : 1;
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(1)));
  if (static_cast<int64_t>(dims.size()) != depth)
    return MakeError("output_shape must have {0} numbers for these indices, not {1}", depth,
                     dims.size());
  if (values.rank() > 1 || (values.rank() == 1 && values.dim(0) != count))
    return MakeError("sparse_values must be a scalar or a vector of {0} elements, got shape {1}",
                     count, DimsText(values.dims()));
  if (fill.num_elements() != 1) return MakeError("default_value must have one element");
  RETURN_IF_ERROR(CheckSparseIndices(indices.Reshaped({count, depth}), dims, validate));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  FillElements(ctx, out->dtype(), out->raw(), out->num_elements(), fill.raw());
  Dims strides = RowMajorStrides(dims);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < depth; ++d) at += indices.IntAt(i * depth + d) * strides[d];
    CopyElements(out->dtype(), At(values, values.rank() == 0 ? 0 : i), At(*out, at), 1);
  }
  return Error::success();
}

Expected<KernelFn> MakeSparseToDense(const KernelSetup& setup) {
  bool validate = setup.node().GetBool("validate_indices", true);
  return KernelFn([validate](KernelContext& ctx) { return SparseToDense(ctx, validate); });
}

// --- SparseReorder

// Sorts by row. Indices may be outside the shape.
Error SparseReorder(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(2)));
  int64_t count = indices.dim(0), depth = indices.dim(1);
  std::vector<int64_t> order = RowOrder(indices);
  const int64_t* rows = indices.data<int64_t>();
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, indices.dims()));
  ASSIGN_OR_RETURN(Tensor * out_values, ctx.Allocate(1, values.dims()));
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(rows + order[i] * depth, depth, out->data<int64_t>() + i * depth);
    CopyElements(values.dtype(), At(values, order[i]), At(*out_values, i), 1);
  }
  return Error::success();
}

// --- SparseReshape

// Returns the requested sizes with -1 computed from the others.
Expected<Dims> NewShape(llvm::ArrayRef<int64_t> old, llvm::ArrayRef<int64_t> asked) {
  Dims dims(asked.begin(), asked.end());
  int unknown = -1;
  int64_t known = 1, total = NumElements(old).value_or(-1);
  if (total < 0) return MakeError("a tensor of shape {0} is too large", DimsText(old));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) {
      if (unknown >= 0)
        return MakeError("only one size may be -1, not both size {0} and size {1}", unknown, i);
      unknown = static_cast<int>(i);
    } else if (dims[i] < 0) {
      return MakeError("size {0} must be -1 or non-negative, not {1}", i, dims[i]);
    } else if (__builtin_mul_overflow(known, dims[i], &known)) {
      return MakeError("a tensor of shape {0} is too large", IntsText(asked));
    }
  }
  if (unknown >= 0) {
    if (known == 0) return MakeError("-1 cannot be inferred next to a size of 0");
    dims[unknown] = total / known;
    known *= dims[unknown];
  }
  if (known != total)
    return MakeError("shape {0} has {1} elements, the requested shape {2} has {3}", DimsText(old),
                     total, IntsText(asked), known);
  return dims;
}

Error SparseReshape(KernelContext& ctx) {
  const Tensor& indices = ctx.input(0);
  RETURN_IF_ERROR(CheckSparseTensor(indices, nullptr, ctx.input(1)));
  if (ctx.input(2).rank() != 1)
    return MakeError("new_shape must be a vector, got shape {0}", DimsText(ctx.input(2).dims()));
  ASSIGN_OR_RETURN(Dims old, ShapeFrom(ctx.input(1)));
  ASSIGN_OR_RETURN(Dims dims, NewShape(old, IntsOf(ctx.input(2))));
  int64_t count = indices.dim(0), depth = static_cast<int64_t>(dims.size());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {count, depth}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(1, {depth}));
  std::copy(dims.begin(), dims.end(), shape->data<int64_t>());
  RETURN_IF_ERROR(CheckSparseIndices(indices, old, false));
  Dims from = RowMajorStrides(old), to = RowMajorStrides(dims);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < old.size(); ++d) at += indices.IntAt(i * old.size() + d) * from[d];
    for (int64_t d = 0; d < depth; ++d) {
      out->data<int64_t>()[i * depth + d] = at / to[d];
      at %= to[d];
    }
  }
  return Error::success();
}

// --- SparseFillEmptyRows

// Outputs rows in ascending order, and the elements of a row in input order.
Error SparseFillEmptyRows(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1), &fill = ctx.input(3);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(2)));
  if (fill.num_elements() != 1) return MakeError("default_value must have one element");
  int64_t count = indices.dim(0), depth = indices.dim(1);
  if (depth < 1) return MakeError("dense_shape must have at least one number");
  int64_t rows = ctx.input(2).IntAt(0);
  if (rows < 0) return MakeError("dense_shape[0] must not be negative, got {0}", rows);
  const int64_t* index = indices.data<int64_t>();
  std::vector<int64_t> next(rows);  // first the size of each row, then its next position
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = index[i * depth];
    if (row < 0 || row >= rows)
      return MakeError("indices[{0},0] = {1} is not in [0, {2})", i, row, rows);
    ++next[row];
  }
  ASSIGN_OR_RETURN(Tensor * empty, ctx.Allocate(2, {rows}));
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    empty->data<bool>()[row] = next[row] == 0;
    int64_t size = std::max<int64_t>(next[row], 1);
    next[row] = total;
    total += size;
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {total, depth}));
  ASSIGN_OR_RETURN(Tensor * out_values, ctx.Allocate(1, {total}));
  ASSIGN_OR_RETURN(Tensor * map, ctx.Allocate(3, {count}));
  for (int64_t row = 0; row < rows; ++row) {
    if (!empty->data<bool>()[row]) continue;
    int64_t* to = out->data<int64_t>() + next[row] * depth;
    std::fill_n(to, depth, 0);
    to[0] = row;
    CopyElements(fill.dtype(), fill.raw(), At(*out_values, next[row]), 1);
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = next[index[i * depth]]++;
    std::copy_n(index + i * depth, depth, out->data<int64_t>() + at * depth);
    CopyElements(values.dtype(), At(values, i), At(*out_values, at), 1);
    map->data<int64_t>()[i] = at;
  }
  return Error::success();
}

// The gradients of values that reverse_index_map does not name, those of filled rows, are summed
// into the gradient of the default value.
template <typename T>
Error FillEmptyRowsGrad(KernelContext& ctx) {
  const Tensor &map = ctx.input(0), &grad = ctx.input(1);
  if (map.rank() != 1 || grad.rank() != 1)
    return MakeError("reverse_index_map and grad_values must be vectors, got shapes {0} and {1}",
                     DimsText(map.dims()), DimsText(grad.dims()));
  int64_t total = grad.dim(0);
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, {map.dim(0)}));
  ASSIGN_OR_RETURN(Tensor * rest, ctx.Allocate(1, {}));
  std::vector<bool> visited(total);
  for (int64_t i = 0; i < map.dim(0); ++i) {
    int64_t at = map.IntAt(i);
    if (at < 0 || at >= total)
      return MakeError("reverse_index_map[{0}] = {1} is not in [0, {2})", i, at, total);
    values->data<T>()[i] = grad.data<T>()[at];
    visited[at] = true;
  }
  T sum = T(0);
  for (int64_t i = 0; i < total; ++i) {
    if (!visited[i]) sum = AddOf(sum, grad.data<T>()[i]);
  }
  *rest->data<T>() = sum;
  return Error::success();
}

Expected<KernelFn> MakeFillEmptyRowsGrad(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.output_type(0), NumberTypes(), [&](auto tag) {
    fn = [](KernelContext& ctx) { return FillEmptyRowsGrad<typename decltype(tag)::type>(ctx); };
    return true;
  });
  return fn;
}

template <Error (*run)(KernelContext&)>
Expected<KernelFn> MakeSparse(const KernelSetup&) {
  return KernelFn(run);
}

GRAPNEL_CPU_KERNEL("SparseToDense", MakeSparseToDense);
GRAPNEL_CPU_KERNEL("SparseReorder", MakeSparse<SparseReorder>);
GRAPNEL_CPU_KERNEL("SparseReshape", MakeSparse<SparseReshape>);
GRAPNEL_CPU_KERNEL("SparseFillEmptyRows", MakeSparse<SparseFillEmptyRows>);
GRAPNEL_CPU_KERNEL("RaggedFillEmptyRowsGrad", MakeFillEmptyRowsGrad,
                   OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("SparseFillEmptyRowsGrad", MakeFillEmptyRowsGrad,
                   OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
