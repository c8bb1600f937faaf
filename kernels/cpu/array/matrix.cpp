// Diagonals: of the innermost two dimensions (MatrixDiag, MatrixDiagPart, MatrixBandPart) and of
// the two halves of all dimensions (Diag, DiagPart).
#include <cstring>

#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

Expected<KernelFn> MakeMatrixDiag(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (in.rank() < 1) return MakeError("diagonal must be at least a vector, got a scalar");
    int64_t n = in.dim(in.rank() - 1);
    Dims dims(in.dims().begin(), in.dims().end());
    dims.push_back(n);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->num_elements() == 0) return Error::success();
    std::memset(out->raw(), 0, out->byte_size());
    CopyStrided(ctx, in.dtype(), {in.num_elements() / n, n}, in.raw(), {n, 1}, out->raw(),
                {n * n, n + 1});
    return Error::success();
  });
}

Expected<KernelFn> MakeMatrixDiagPart(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (in.rank() < 2)
      return MakeError("input must be at least a matrix, got shape {0}", DimsText(in.dims()));
    int64_t rows = in.dim(in.rank() - 2), cols = in.dim(in.rank() - 1), n = std::min(rows, cols);
    Dims dims(in.dims().begin(), in.dims().end() - 2);
    int64_t batch = NumElements(dims).value_or(0);
    dims.push_back(n);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    CopyStrided(ctx, in.dtype(), {batch, n}, in.raw(), {rows * cols, cols + 1}, out->raw(), {n, 1});
    return Error::success();
  });
}

// Sets elements outside the band to zero; a negative bound keeps the whole triangle.
Error MatrixBandPart(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 2)
    return MakeError("input must be at least a matrix, got shape {0}", DimsText(in.dims()));
  if (ctx.input(1).num_elements() != 1 || ctx.input(2).num_elements() != 1) {
    return MakeError("num_lower and num_upper must have one element each");
  }
  int64_t rows = in.dim(in.rank() - 2), cols = in.dim(in.rank() - 1);
  int64_t lower = ctx.input(1).IntAt(0), upper = ctx.input(2).IntAt(0);
  if (lower > rows)
    return MakeError("num_lower must be negative or at most {0}, got {1}", rows, lower);
  if (upper > cols)
    return MakeError("num_upper must be negative or at most {0}, got {1}", cols, upper);
  if (lower < 0) lower = rows;
  if (upper < 0) upper = cols;
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  if (out->num_elements() == 0) return Error::success();
  size_t size = DataTypeSize(in.dtype());
  const char* from = static_cast<const char*>(in.raw());
  char* to = static_cast<char*>(out->raw());
  ctx.ParallelFor(in.num_elements() / cols, 5 + cols * 0.1 * size, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t i = row % rows;
      int64_t first = std::clamp<int64_t>(i - lower, 0, cols),
              last = std::clamp<int64_t>(i + upper + 1, 0, cols);
      char* target = to + row * cols * size;
      if (from != to)
        std::memcpy(target + first * size, from + (row * cols + first) * size,
                    (last - first) * size);
      std::memset(target, 0, first * size);
      std::memset(target + last * size, 0, (cols - last) * size);
    }
  });
  return Error::success();
}
Expected<KernelFn> MakeMatrixBandPart(const KernelSetup&) { return KernelFn(MatrixBandPart); }

// The result's dims are the input's dims twice.
Error Diag(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  Dims dims(in.dims().begin(), in.dims().end());
  dims.append(in.dims().begin(), in.dims().end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  std::memset(out->raw(), 0, out->byte_size());
  CopyStrided(ctx, in.dtype(), {in.num_elements()}, in.raw(), {1}, out->raw(),
              {in.num_elements() + 1});
  return Error::success();
}
Expected<KernelFn> MakeDiag(const KernelSetup&) { return KernelFn(Diag); }

Error DiagPart(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  int half = in.rank() / 2;
  // For a scalar the result is the scalar, as in TensorFlow.
  if (in.rank() % 2 != 0 || in.dims().take_front(half) != in.dims().drop_front(half))
    return MakeError("expected a shape whose two halves are equal, got {0}", DimsText(in.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims().take_front(half)));
  int64_t n = out->num_elements();
  CopyStrided(ctx, in.dtype(), {n}, in.raw(), {n + 1}, out->raw(), {1});
  return Error::success();
}
Expected<KernelFn> MakeDiagPart(const KernelSetup&) { return KernelFn(DiagPart); }

GRAPNEL_CPU_KERNEL("MatrixDiag", MakeMatrixDiag);
GRAPNEL_CPU_KERNEL("MatrixDiagPart", MakeMatrixDiagPart);
GRAPNEL_CPU_KERNEL("MatrixBandPart", MakeMatrixBandPart);
GRAPNEL_CPU_KERNEL("Diag", MakeDiag);
GRAPNEL_CPU_KERNEL("DiagPart", MakeDiagPart);

}  // namespace
}  // namespace grapnel
