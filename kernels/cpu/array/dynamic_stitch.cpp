// DynamicStitch and ParallelDynamicStitch: the inverse of DynamicPartition. Of several rows with
// the same index the last wins, also in the parallel op, where TensorFlow's result is arbitrary.
// Rows that no index names are zero; TensorFlow leaves their memory uninitialized.
#include <algorithm>
#include <cstring>

#include "kernels/common/indices.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// Returns the dimensions of `data` that follow those of `indices`.
llvm::ArrayRef<int64_t> RowDims(const Tensor& indices, const Tensor& data) {
  return data.dims().drop_front(indices.rank());
}

Error CheckPair(int i, const Tensor& indices, const Tensor& data) {
  if (data.rank() >= indices.rank() && data.dims().take_front(indices.rank()) == indices.dims())
    return Error::success();
  return MakeError("data[{0}] of shape {1} does not begin with the shape of indices[{0}], {2}", i,
                   DimsText(data.dims()), DimsText(indices.dims()));
}

// Returns the number of rows of the result: one more than the largest index.
Expected<int64_t> CountRows(const KernelContext& ctx, int pairs) {
  int64_t rows = 0;
  for (int i = 0; i < pairs; ++i) {
    const Tensor& indices = ctx.input(i);
    for (int64_t k = 0; k < indices.num_elements(); ++k) {
      int64_t index = indices.IntAt(k);
      if (index < 0)
        return MakeError("indices[{0}]{1} = {2} is negative", i, PositionText(indices.dims(), k),
                         index);
      rows = std::max(rows, index + 1);
    }
  }
  return rows;
}

Error Run(KernelContext& ctx) {
  int pairs = ctx.num_inputs() / 2;
  llvm::ArrayRef<int64_t> row;
  for (int i = 0; i < pairs; ++i) {
    const Tensor &indices = ctx.input(i), &data = ctx.input(pairs + i);
    RETURN_IF_ERROR(CheckPair(i, indices, data));
    if (i == 0) row = RowDims(indices, data);
    if (RowDims(indices, data) != row)
      return MakeError("rows of data[{0}] have shape {1}, but rows of data[0] have shape {2}", i,
                       DimsText(RowDims(indices, data)), DimsText(row));
  }
  ASSIGN_OR_RETURN(int64_t rows, CountRows(ctx, pairs));
  Dims dims = {rows};
  dims.append(row.begin(), row.end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  std::memset(out->raw(), 0, out->byte_size());
  int64_t length = NumElements(row).value_or(0);
  for (int i = 0; i < pairs; ++i) {
    const Tensor &indices = ctx.input(i), &data = ctx.input(pairs + i);
    for (int64_t k = 0; k < indices.num_elements(); ++k)
      CopyElements(data.dtype(), At(data, k * length), At(*out, indices.IntAt(k) * length), length);
  }
  return Error::success();
}

GRAPNEL_CPU_KERNEL("DynamicStitch", KernelOf<Run>);
GRAPNEL_CPU_KERNEL("ParallelDynamicStitch", KernelOf<Run>);

}  // namespace
}  // namespace grapnel
