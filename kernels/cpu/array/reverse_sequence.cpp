// ReverseSequence: reverses the first seq_lengths[i] elements of each row.
#include <algorithm>

#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

Error ReverseSequence(KernelContext& ctx, int64_t seq_dim, int64_t batch_dim) {
  const Tensor &in = ctx.input(0), &lengths = ctx.input(1);
  for (int64_t dim : {seq_dim, batch_dim}) {
    if (dim < 0 || dim >= in.rank())
      return MakeError("seq_dim and batch_dim must be in [0, {0}), got {1}", in.rank(), dim);
  }
  if (seq_dim == batch_dim)
    return MakeError("seq_dim and batch_dim must differ, both are {0}", seq_dim);
  int64_t rows = in.dim(static_cast<int>(batch_dim)), steps = in.dim(static_cast<int>(seq_dim));
  if (lengths.rank() != 1 || lengths.dim(0) != rows)
    return MakeError("seq_lengths must be a vector of {0} elements, got shape {1}", rows,
                     DimsText(lengths.dims()));
  for (int64_t i = 0; i < rows; ++i) {
    int64_t length = lengths.IntAt(i);
    if (length < 0 || length > steps)
      return MakeError("seq_lengths[{0}] = {1} is not in [0, {2}]", i, length, steps);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  if (out->num_elements() == 0) return Error::success();
  Dims strides = RowMajorStrides(in.dims());
  int64_t inner = strides[std::max(seq_dim, batch_dim)];
  int64_t row_stride = strides[batch_dim], step_stride = strides[seq_dim];
  ctx.ParallelFor(in.num_elements() / inner, 10 + inner * 0.5, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = i * inner, step = at / step_stride % steps;
      int64_t length = lengths.IntAt(at / row_stride % rows);
      int64_t from = step < length ? at + (length - 1 - 2 * step) * step_stride : at;
      CopyElements(in.dtype(), At(in, from), At(*out, at), inner);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeReverseSequence(const KernelSetup& setup) {
  int64_t seq_dim = setup.node().GetInt("seq_dim"), batch_dim = setup.node().GetInt("batch_dim");
  return KernelFn([seq_dim, batch_dim](KernelContext& ctx) {
    return ReverseSequence(ctx, seq_dim, batch_dim);
  });
}

GRAPNEL_CPU_KERNEL("ReverseSequence", MakeReverseSequence);

}  // namespace
}  // namespace grapnel
