// Concatenates and slices sparse tensors: SparseConcat, SparseSplit, SparseSlice and its gradient.
#include <algorithm>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

Expected<int64_t> AxisOf(int64_t axis, int64_t rank, const char* name) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return MakeError("{0} must be in [{1}, {2}), got {3}", name, -rank, rank, axis);
}

// --- SparseConcat

// Returns the result's shape; `begins` receives the offset of each input.
Expected<Dims> JoinedDims(const KernelContext& ctx, int n, int64_t asked, int64_t* axis,
                          std::vector<int64_t>* begins) {
  Dims dims;
  for (int i = 0; i < n; ++i) {
    const Tensor &indices = ctx.input(i), &values = ctx.input(n + i), &shape = ctx.input(2 * n + i);
    if (Error error = CheckSparseTensor(indices, &values, shape))
      return Annotate("tensor " + std::to_string(i), std::move(error));
    ASSIGN_OR_RETURN(Dims own, ShapeFrom(shape));
    RETURN_IF_ERROR(CheckSparseIndices(indices, own, false));
    if (i == 0) {
      dims = own;
      ASSIGN_OR_RETURN(*axis, AxisOf(asked, static_cast<int64_t>(dims.size()), "concat_dim"));
      begins->push_back(0);
      continue;
    }
    Dims like = own;
    if (own.size() == dims.size()) like[*axis] = dims[*axis];
    if (like != dims)
      return MakeError(
          "all shapes must agree except along the axis: tensor {0} has shape {1}, tensor 0 has "
          "shape {2}",
          i, DimsText(own), IntsText(IntsOf(ctx.input(2 * n))));
    begins->push_back(dims[*axis]);
    if (__builtin_add_overflow(dims[*axis], own[*axis], &dims[*axis]) || !NumElements(dims))
      return MakeError(
          "the result is too large: its size along the axis or its number of elements overflows "
          "int64");
  }
  return dims;
}

Expected<KernelFn> MakeConcat(const KernelSetup& setup) {
  int64_t asked = setup.node().GetInt("concat_dim");
  int n = setup.num_inputs() / 3;
  if (n < 1) return MakeError("the node has no inputs to concatenate");
  return KernelFn([asked, n](KernelContext& ctx) -> Error {
    int64_t axis = 0, count = 0, at = 0;
    std::vector<int64_t> begins;
    ASSIGN_OR_RETURN(Dims dims, JoinedDims(ctx, n, asked, &axis, &begins));
    int64_t depth = static_cast<int64_t>(dims.size());
    for (int i = 0; i < n; ++i) count += ctx.input(i).dim(0);
    ASSIGN_OR_RETURN(Tensor all, ctx.Scratch(proto::DT_INT64, {count, depth}));
    ASSIGN_OR_RETURN(Tensor values, ctx.Scratch(ctx.output_type(1), {count}));
    for (int i = 0; i < n; ++i) {
      const Tensor& indices = ctx.input(i);
      int64_t* to = all.data<int64_t>() + at * depth;
      std::copy_n(indices.data<int64_t>(), indices.num_elements(), to);
      for (int64_t row = 0; row < indices.dim(0); ++row) to[row * depth + axis] += begins[i];
      CopyElements(values.dtype(), ctx.input(n + i).raw(), At(values, at), indices.dim(0));
      at += indices.dim(0);
    }
    std::vector<int64_t> order = RowOrder(all);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, all.dims()));
    ASSIGN_OR_RETURN(Tensor * out_values, ctx.Allocate(1, {count}));
    ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {depth}));
    std::copy(dims.begin(), dims.end(), shape->data<int64_t>());
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(all.data<int64_t>() + order[i] * depth, depth, out->data<int64_t>() + i * depth);
      CopyElements(values.dtype(), At(values, order[i]), At(*out_values, i), 1);
    }
    return Error::success();
  });
}

// --- Parts

// Writes the elements at `rows`, shifted by `begin`, to outputs `first`, `first + step` and `first
// + 2 * step`.
Error StorePart(KernelContext& ctx, int first, int step, const Tensor& indices,
                const Tensor& values, llvm::ArrayRef<int64_t> rows, llvm::ArrayRef<int64_t> begin,
                llvm::ArrayRef<int64_t> dims) {
  int64_t count = static_cast<int64_t>(rows.size()), depth = indices.dim(1);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(first, {count, depth}));
  ASSIGN_OR_RETURN(Tensor * out_values, ctx.Allocate(first + step, {count}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(first + 2 * step, {depth}));
  std::copy(dims.begin(), dims.end(), shape->data<int64_t>());
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < depth; ++d)
      out->data<int64_t>()[i * depth + d] = indices.data<int64_t>()[rows[i] * depth + d] - begin[d];
    CopyElements(values.dtype(), At(values, rows[i]), At(*out_values, i), 1);
  }
  return Error::success();
}

// Splits into equal parts; if that is not possible, the first ones are one longer.
Error SparseSplit(KernelContext& ctx) {
  const Tensor &indices = ctx.input(1), &values = ctx.input(2);
  if (ctx.input(0).num_elements() != 1) return MakeError("split_dim must have one element");
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(3)));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(3)));
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, false));
  int64_t depth = static_cast<int64_t>(dims.size());
  ASSIGN_OR_RETURN(int64_t axis, AxisOf(ctx.input(0).IntAt(0), depth, "split_dim"));
  int n = ctx.num_outputs() / 3;
  if (n < 1 || dims[axis] < n)
    return MakeError("num_split must be in [1, {0}], got {1}", dims[axis], n);
  int64_t size = dims[axis] / n, longer = dims[axis] % n;
  std::vector<std::vector<int64_t>> rows(n);
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    int64_t at = indices.data<int64_t>()[i * depth + axis];
    int64_t part =
        at < longer * (size + 1) ? at / (size + 1) : longer + (at - longer * (size + 1)) / size;
    rows[part].push_back(i);
  }
  Dims begin(depth, 0);
  for (int part = 0; part < n; ++part) {
    dims[axis] = size + (part < longer ? 1 : 0);
    RETURN_IF_ERROR(StorePart(ctx, part, n, indices, values, rows[part], begin, dims));
    begin[axis] += dims[axis];
  }
  return Error::success();
}

Expected<Dims> BoundsIn(const KernelContext& ctx, int i, int64_t depth, const char* name) {
  if (ctx.input(i).rank() != 1 || ctx.input(i).dim(0) != depth)
    return MakeError("{0} must be a vector of {1} elements, got shape {2}", name, depth,
                     DimsText(ctx.input(i).dims()));
  return IntsOf(ctx.input(i));
}

// A slice may start before the tensor; one that starts past its end is empty, regardless of the
// requested size.
Error SparseSlice(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(2)));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(2)));
  int64_t depth = static_cast<int64_t>(dims.size());
  ASSIGN_OR_RETURN(Dims begin, BoundsIn(ctx, 3, depth, "start"));
  ASSIGN_OR_RETURN(Dims size, BoundsIn(ctx, 4, depth, "size"));
  for (int64_t d = 0; d < depth; ++d) {
    if (begin[d] <= dims[d] && size[d] < 0)
      return MakeError(
          "size must not be negative where start is not past the end of the tensor, got {0}",
          IntsText(IntsOf(ctx.input(4))));
    size[d] = std::max<int64_t>(size[d], 0);
  }
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    bool inside = true;
    for (int64_t d = 0; inside && d < depth; ++d) {
      int64_t at = indices.data<int64_t>()[i * depth + d], offset = 0;
      inside = !__builtin_sub_overflow(at, begin[d], &offset) && offset >= 0 && offset < size[d];
    }
    if (inside) rows.push_back(i);
  }
  for (int64_t d = 0; d < depth; ++d) {
    int64_t room = 0;
    if (!__builtin_sub_overflow(dims[d], begin[d], &room))
      size[d] = std::clamp<int64_t>(room, 0, size[d]);
  }
  return StorePart(ctx, 0, 1, indices, values, rows, begin, size);
}

// Elements outside the slice have no gradient.
template <typename T>
Error SparseSliceGrad(KernelContext& ctx) {
  const Tensor &grad = ctx.input(0), &indices = ctx.input(1), &out_indices = ctx.input(3);
  if (indices.rank() != 2 || out_indices.rank() != 2 || indices.dim(1) != out_indices.dim(1))
    return MakeError("indices must be matrices of one width, got shapes {0} and {1}",
                     DimsText(indices.dims()), DimsText(out_indices.dims()));
  if (grad.rank() != 1 || grad.dim(0) != out_indices.dim(0))
    return MakeError("backprop_val_grad must be a vector of {0} elements, got shape {1}",
                     out_indices.dim(0), DimsText(grad.dims()));
  int64_t depth = indices.dim(1), next = 0;
  ASSIGN_OR_RETURN(Dims begin, BoundsIn(ctx, 2, depth, "input_start"));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {indices.dim(0)}));
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    bool same = next < out_indices.dim(0);
    for (int64_t d = 0; same && d < depth; ++d) {
      same = AddOf(out_indices.data<int64_t>()[next * depth + d], begin[d]) ==
             indices.data<int64_t>()[i * depth + d];
    }
    out->data<T>()[i] = same ? grad.data<T>()[next] : T(0);
    if (same) ++next;
  }
  if (next < out_indices.dim(0))
    return MakeError("the index of gradient {0} of {1} is not in the input, or is out of order",
                     next + 1, out_indices.dim(0));
  return Error::success();
}

Expected<KernelFn> MakeSliceGrad(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.input_type(0), NumberTypes(), [&](auto tag) {
    fn = [](KernelContext& ctx) { return SparseSliceGrad<typename decltype(tag)::type>(ctx); };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("SparseConcat", MakeConcat);
GRAPNEL_CPU_KERNEL("SparseSplit", KernelOf<SparseSplit>);
GRAPNEL_CPU_KERNEL("SparseSlice", KernelOf<SparseSlice>);
GRAPNEL_CPU_KERNEL("SparseSliceGrad", MakeSliceGrad, OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
