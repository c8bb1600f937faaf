// SpaceToBatchND and BatchToSpaceND, and the two image ops that they generalize: move blocks of the
// padded spatial dimensions into the batch and back. Each direction is one strided copy per
// position in a block.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// The block size per spatial dimension (dimensions 1 and up), and the padding (or crop) before and
// after.
struct Blocks {
  Dims size, before, after;
  int rank() const { return static_cast<int>(size.size()); }
  int64_t places() const { return NumElements(size).value_or(0); }
};

Error ReadEdges(const Tensor& edges, const char* name, int rank, Blocks& blocks) {
  if (edges.rank() != 2 || edges.dim(0) != rank || edges.dim(1) != 2)
    return MakeError("{0} must have shape [{1},2], got {2}", name, rank, DimsText(edges.dims()));
  for (int d = 0; d < rank; ++d) {
    int64_t before = edges.IntAt(2 * d), after = edges.IntAt(2 * d + 1);
    if (before < 0 || after < 0)
      return MakeError("{0}[{1}] must not be negative, got {2} and {3}", name, d, before, after);
    blocks.before.push_back(before);
    blocks.after.push_back(after);
  }
  return Error::success();
}

Error AddSize(int64_t size, Blocks& blocks) {
  if (size < 1) return MakeError("block_shape[{0}] must be positive, got {1}", blocks.rank(), size);
  blocks.size.push_back(size);
  return Error::success();
}

Expected<Blocks> ReadBlocks(const Tensor& shape, const Tensor& edges, const char* name) {
  if (shape.rank() != 1)
    return MakeError("block_shape must be a vector, got shape {0}", DimsText(shape.dims()));
  Blocks blocks;
  for (int64_t d = 0; d < shape.num_elements(); ++d)
    RETURN_IF_ERROR(AddSize(shape.IntAt(d), blocks));
  RETURN_IF_ERROR(ReadEdges(edges, name, blocks.rank(), blocks));
  if (!NumElements(blocks.size))
    return MakeError("blocks of size {0} are larger than memory", IntsText(blocks.size));
  return blocks;
}

// The elements that the two tensors share for one position in a block: in each spatial dimension,
// `count` elements from `small_start` on in the small tensor (whose batch holds the blocks'
// positions) and from `large_start` on, one per block, in the large one.
struct Overlap {
  Dims small_start, large_start, count;
};

// Element i of a small dimension corresponds to i * size + offset - before in the large one.
Overlap MeetingAt(const Blocks& blocks, llvm::ArrayRef<int64_t> small,
                  llvm::ArrayRef<int64_t> large, int64_t place) {
  Overlap meeting;
  Dims offset(blocks.rank());
  for (int d = blocks.rank(); d-- > 0; place /= blocks.size[d]) offset[d] = place % blocks.size[d];
  for (int d = 0; d < blocks.rank(); ++d) {
    int64_t size = blocks.size[d], shift = blocks.before[d] - offset[d];
    int64_t first = shift > 0 ? (shift + size - 1) / size : 0;
    int64_t at = first * size - shift;
    int64_t room = at < large[d + 1] ? (large[d + 1] - at + size - 1) / size : 0;
    meeting.small_start.push_back(first);
    meeting.large_start.push_back(at);
    meeting.count.push_back(std::clamp<int64_t>(small[d + 1] - first, 0, room));
  }
  return meeting;
}

// Copies between the small and the large tensor for every position in a block. The small tensor's
// batch is the number of positions times the large tensor's batch.
void CopyBlocks(KernelContext& ctx, const Blocks& blocks, bool to_small, const Tensor& in,
                Tensor& out) {
  // In empty tensors, the number of positions in a block is unbounded.
  if (in.num_elements() == 0 || out.num_elements() == 0) return;
  const Tensor &small = to_small ? out : in, &large = to_small ? in : out;
  Dims small_strides = RowMajorStrides(small.dims()), large_strides = RowMajorStrides(large.dims());
  Dims large_steps = large_strides;
  for (int d = 0; d < blocks.rank(); ++d) large_steps[d + 1] *= blocks.size[d];
  int64_t batch = large.dim(0), places = blocks.places();
  for (int64_t place = 0; place < places; ++place) {
    Overlap meeting = MeetingAt(blocks, small.dims(), large.dims(), place);
    Dims sizes(large.dims().begin(), large.dims().end());
    int64_t small_at = place * batch * small_strides[0], large_at = 0;
    for (int d = 0; d < blocks.rank(); ++d) {
      sizes[d + 1] = meeting.count[d];
      small_at += meeting.small_start[d] * small_strides[d + 1];
      large_at += meeting.large_start[d] * large_strides[d + 1];
    }
    if (NumElements(sizes).value_or(0) == 0) continue;
    if (to_small)
      CopyStrided(ctx, in.dtype(), sizes, At(in, large_at), large_steps, At(out, small_at),
                  small_strides);
    else
      CopyStrided(ctx, in.dtype(), sizes, At(in, small_at), small_strides, At(out, large_at),
                  large_steps);
  }
}

Error CheckRank(const Tensor& in, const Blocks& blocks) {
  if (in.rank() > blocks.rank()) return Error::success();
  return MakeError("input must have rank {0} or more, got shape {1}", blocks.rank() + 1,
                   DimsText(in.dims()));
}

Error SpaceToBatch(KernelContext& ctx, const Blocks& blocks) {
  const Tensor& in = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(in, blocks));
  Dims dims(in.dims().begin(), in.dims().end());
  if (__builtin_mul_overflow(dims[0], blocks.places(), &dims[0]))
    return MakeError(
        "the number of positions in a block, {0}, times the batch size, {1}, overflows 64 bits",
        blocks.places(), in.dim(0));
  for (int d = 0; d < blocks.rank(); ++d) {
    int64_t& dim = dims[d + 1];
    if (__builtin_add_overflow(dim, blocks.before[d], &dim) ||
        __builtin_add_overflow(dim, blocks.after[d], &dim))
      return MakeError("padded dimension {0} is too large", d + 1);
    if (dim % blocks.size[d] != 0)
      return MakeError(
          "padded dimension {0} has {1} elements, which is not divisible by its block size {2}",
          d + 1, dim, blocks.size[d]);
    dim /= blocks.size[d];
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  std::memset(out->raw(), 0, out->byte_size());
  CopyBlocks(ctx, blocks, true, in, *out);
  return Error::success();
}

Error BatchToSpace(KernelContext& ctx, const Blocks& blocks) {
  const Tensor& in = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(in, blocks));
  Dims dims(in.dims().begin(), in.dims().end());
  if (dims[0] % blocks.places() != 0)
    return MakeError("a batch of {0} is not divisible by the {1} positions in a block", dims[0],
                     blocks.places());
  dims[0] /= blocks.places();
  for (int d = 0; d < blocks.rank(); ++d) {
    int64_t whole, &dim = dims[d + 1];
    if (__builtin_mul_overflow(dim, blocks.size[d], &whole))
      return MakeError("dimension {0} of the result is too large", d + 1);
    if (blocks.before[d] > whole || blocks.after[d] > whole - blocks.before[d])
      return MakeError(
          "crops[{0}] = {1} and {2} together exceed the {3} elements that dimension {4} has before "
          "cropping",
          d, blocks.before[d], blocks.after[d], whole, d + 1);
    dim = whole - blocks.before[d] - blocks.after[d];
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  CopyBlocks(ctx, blocks, false, in, *out);
  return Error::success();
}

using Move = Error (*)(KernelContext&, const Blocks&);

template <Move kMove>
Error RunND(KernelContext& ctx) {
  const char* name = kMove == SpaceToBatch ? "paddings" : "crops";
  ASSIGN_OR_RETURN(Blocks blocks, ReadBlocks(ctx.input(1), ctx.input(2), name));
  return kMove(ctx, blocks);
}

// The image ops: a square block, its size in an attribute.
template <Move kMove>
Expected<KernelFn> MakeSquare(const KernelSetup& setup) {
  int64_t size = setup.node().GetInt("block_size");
  if (size < 2 || size > std::numeric_limits<int32_t>::max())
    return MakeError("block_size must be in [2, 2^31), got {0}", size);
  return KernelFn([size](KernelContext& ctx) -> Error {
    if (ctx.input(0).rank() != 4)
      return MakeError("input must have rank 4, got shape {0}", DimsText(ctx.input(0).dims()));
    Blocks blocks;
    RETURN_IF_ERROR(AddSize(size, blocks));
    RETURN_IF_ERROR(AddSize(size, blocks));
    const char* name = kMove == SpaceToBatch ? "paddings" : "crops";
    RETURN_IF_ERROR(ReadEdges(ctx.input(1), name, 2, blocks));
    return kMove(ctx, blocks);
  });
}

GRAPNEL_CPU_KERNEL("SpaceToBatchND", KernelOf<RunND<SpaceToBatch>>);
GRAPNEL_CPU_KERNEL("BatchToSpaceND", KernelOf<RunND<BatchToSpace>>);
GRAPNEL_CPU_KERNEL("SpaceToBatch", MakeSquare<SpaceToBatch>);
GRAPNEL_CPU_KERNEL("BatchToSpace", MakeSquare<BatchToSpace>);

}  // namespace
}  // namespace grapnel
