// Row lookups by index: Gather, GatherV2, GatherNd.
#include "kernels/common/indices.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// Copies a row of `n` elements. Rows of 4 and 8 bytes, such as the single elements that a mask
// selects, have cases of their own, which the compiler turns into one move.
void CopyOne(DataType dtype, const char* from, char* to, int64_t n) {
  switch (dtype == proto::DT_STRING ? 0 : n * static_cast<int64_t>(DataTypeSize(dtype))) {
    case 4:
      __builtin_memcpy(to, from, 4);
      return;
    case 8:
      __builtin_memcpy(to, from, 8);
      return;
    default:
      CopyElements(dtype, from, to, n);
  }
}

Error GatherAt(KernelContext& ctx, int64_t axis_value, int64_t batch_value) {
  const Tensor &params = ctx.input(0), &indices = ctx.input(1);
  if (params.rank() < 1) return MakeError("params must be at least a vector, got a scalar");
  ASSIGN_OR_RETURN(int axis, AxisIn(axis_value, params.rank()));
  int64_t batch_dims = batch_value < 0 ? batch_value + indices.rank() : batch_value;
  if (batch_dims < 0 || batch_dims > std::min(indices.rank(), axis)) {
    return MakeError(
        "batch_dims must be in [-{1}, {1}], where {1} is the rank of indices, and at most the "
        "axis, {2}, when counted from 0; got {0}",
        batch_value, indices.rank(), axis);
  }
  int64_t batches = 1, outer = 1, inner = 1, lookups = 1, limit = params.dim(axis);
  Dims dims;
  for (int d = 0; d < batch_dims; ++d) {
    if (params.dim(d) != indices.dim(d)) {
      return MakeError("params.shape[{0}] = {1} should be equal to indices.shape[{0}] = {2}", d,
                       params.dim(d), indices.dim(d));
    }
    batches *= params.dim(d);
    dims.push_back(params.dim(d));
  }
  for (int d = static_cast<int>(batch_dims); d < axis; ++d) {
    outer *= params.dim(d);
    dims.push_back(params.dim(d));
  }
  for (int d = static_cast<int>(batch_dims); d < indices.rank(); ++d) {
    lookups *= indices.dim(d);
    dims.push_back(indices.dim(d));
  }
  for (int d = axis + 1; d < params.rank(); ++d) {
    inner *= params.dim(d);
    dims.push_back(params.dim(d));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  // When the output is empty, TensorFlow does not check the indices.
  if (out->num_elements() == 0) return Error::success();
  RETURN_IF_ERROR(CheckIndices(indices, limit));
  Tensor& target = *out;
  double cost = 3 + inner * static_cast<double>(ElementSize(params.dtype())) * 0.1;
  ctx.ParallelFor(batches * outer * lookups, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t row = i / lookups;  // batch * outer + position in outer
      int64_t index = indices.IntAt(row / outer * lookups + i % lookups);
      CopyOne(params.dtype(), At(params, (row * limit + index) * inner), At(target, i * inner),
              inner);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeGather(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return GatherAt(ctx, 0, 0); });
}
Expected<KernelFn> MakeGatherV2(const KernelSetup& setup) {
  int64_t batch_dims = setup.node().GetInt("batch_dims");
  return KernelFn([batch_dims](KernelContext& ctx) -> Error {
    const Tensor& axis = ctx.input(2);
    if (axis.num_elements() != 1)
      return MakeError("axis must have one element, got shape {0}", DimsText(axis.dims()));
    return GatherAt(ctx, axis.IntAt(0), batch_dims);
  });
}

Error GatherNd(KernelContext& ctx) {
  const Tensor &params = ctx.input(0), &indices = ctx.input(1);
  if (params.rank() < 1) return MakeError("params must be at least a vector, got a scalar");
  ASSIGN_OR_RETURN(SliceOffsets slices, ReadSliceIndices(indices, params.dims()));
  if (params.num_elements() == 0 && !slices.at.empty())
    return MakeError("cannot take {0} slices of empty params of shape {1}", slices.at.size(),
                     DimsText(params.dims()));
  Dims dims = slices.batch;
  dims.append(slices.slice.begin(), slices.slice.end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  Tensor& target = *out;
  double cost = 3 + slices.length * static_cast<double>(ElementSize(params.dtype())) * 0.1;
  ctx.ParallelFor(slices.at.size(), cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      CopyOne(params.dtype(), At(params, slices.at[i]), At(target, i * slices.length),
              slices.length);
    }
  });
  return Error::success();
}
Expected<KernelFn> MakeGatherNd(const KernelSetup&) { return KernelFn(GatherNd); }

GRAPNEL_CPU_KERNEL("Gather", MakeGather);
GRAPNEL_CPU_KERNEL("GatherV2", MakeGatherV2);
GRAPNEL_CPU_KERNEL("GatherNd", MakeGatherNd);

}  // namespace
}  // namespace grapnel
