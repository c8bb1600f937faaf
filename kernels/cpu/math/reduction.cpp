#include "kernels/cpu/math/reduction.h"

#include <algorithm>

#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

struct Axis {
  int64_t size, stride;
};

// The innermost dimension and, when that is kept, the reduced one around it are what the loops run
// over; the rest is walked index by index.
struct Plan {
  Dims dims;  // of the result
  llvm::SmallVector<Axis, 4> kept, reduced;
  bool columns = true;                    // innermost dimension is kept
  int64_t width = 1;                      // results that lie side by side (columns), else 1
  int64_t extent = 1, extent_stride = 0;  // of the reduced dimension that a loop runs over
  int64_t outer_kept = 1, outer_reduced = 1;

  int64_t count() const { return outer_reduced * extent; }  // elements in one result
};

int64_t OffsetOf(llvm::ArrayRef<Axis> axes, int64_t index) {
  int64_t offset = 0;
  for (size_t d = axes.size(); d-- > 0; index /= axes[d].size)
    offset += index % axes[d].size * axes[d].stride;
  return offset;
}

Plan MakePlan(const ReducedDims& dims) {
  Plan plan;
  plan.dims = dims.result;
  llvm::SmallVector<ReducedDims::Merged, 8> merged = dims.merged;
  if (!merged.empty()) {
    plan.columns = !merged.back().reduced;
    if (plan.columns) {
      plan.width = merged.back().size;
      merged.pop_back();
    }
  }
  if (!merged.empty()) {  // what is innermost now is reduced: two neighbours are never both kept
    plan.extent = merged.back().size;
    plan.extent_stride = merged.back().stride;
    merged.pop_back();
  }
  for (const ReducedDims::Merged& axis : merged) {
    (axis.reduced ? plan.reduced : plan.kept).push_back({axis.size, axis.stride});
    (axis.reduced ? plan.outer_reduced : plan.outer_kept) *= axis.size;
  }
  return plan;
}

}  // namespace

Expected<ReducedDims> ReadReducedDims(const Tensor& in, const Tensor& axes, bool keep_dims) {
  llvm::SmallVector<bool, 8> reduced(in.rank(), false);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    int64_t axis = axes.IntAt(i);
    if (axis < -in.rank() || axis >= in.rank()) {
      return MakeError("invalid reduction dimension {0} for input with {1} dimensions", axis,
                       in.rank());
    }
    axis = axis < 0 ? axis + in.rank() : axis;
    if (reduced[axis]) return MakeError("axes contain dimension {0} twice", axis);
    reduced[axis] = true;
  }
  ReducedDims dims;
  llvm::SmallVector<ReducedDims::Merged, 8>& merged = dims.merged;
  Dims strides = RowMajorStrides(in.dims());
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[d])
      dims.result.push_back(in.dim(d));
    else if (keep_dims)
      dims.result.push_back(1);
    if (in.dim(d) == 1) continue;
    if (!merged.empty() && merged.back().reduced == reduced[d]) {
      merged.back().size *= in.dim(d);
      merged.back().stride = strides[d];
    } else {
      merged.push_back({in.dim(d), strides[d], reduced[d]});
    }
  }
  return dims;
}

namespace {

// Takes the part [begin, end) of the reduced elements of result row `kept` into `acc`, for `width`
// columns from `column`.
void TakeIn(const Plan& plan, const ReduceLoops& loops, const Tensor& in, int64_t kept,
            int64_t begin, int64_t end, int64_t column, int64_t width, void* acc) {
  int64_t base = OffsetOf(plan.kept, kept) + column;
  while (begin < end) {
    int64_t first = begin % plan.extent, n = std::min(plan.extent - first, end - begin);
    const void* from =
        At(in, base + OffsetOf(plan.reduced, begin / plan.extent) + first * plan.extent_stride);
    if (plan.columns)
      loops.columns(from, n, plan.extent_stride, width, acc);
    else
      loops.row(from, n, acc);
    begin += n;
  }
}

}  // namespace

Error Reduce(KernelContext& ctx, const ReduceLoops& loops, bool keep_dims) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(ReducedDims reduced, ReadReducedDims(in, ctx.input(1), keep_dims));
  Plan plan = MakePlan(reduced);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.dims));
  if (out->num_elements() == 0) return Error::success();

  // Work is cut into units: a row of results, or some of its columns, or a part of what goes into
  // them. The cuts depend on the shape alone, so that any number of threads adds up in the same
  // order.
  constexpr int64_t kTile = 2048, kLargePart = 32768;
  int64_t tile = std::min(plan.width, kTile), tiles = (plan.width + tile - 1) / tile;
  int64_t part = std::max<int64_t>(plan.count(), 1), parts = 1;
  if (plan.outer_kept * tiles < 16 && plan.count() * tile > 2 * kLargePart) {
    part = std::max<int64_t>(kLargePart / tile, 1);
    parts = (plan.count() + part - 1) / part;
  }
  Tensor partial;
  if (parts > 1) {
    int64_t bytes = plan.outer_kept * plan.width * parts * static_cast<int64_t>(loops.size);
    ASSIGN_OR_RETURN(partial, ctx.Scratch(proto::DT_UINT8, {bytes}));
  }
  double unit_cost =
      20 + 0.2 * static_cast<double>(std::min(part, plan.count())) * static_cast<double>(tile);
  ctx.ParallelFor(plan.outer_kept * tiles * parts, unit_cost, [&](int64_t begin, int64_t end) {
    std::vector<std::max_align_t> local((tile * loops.size + sizeof(std::max_align_t) - 1) /
                                        sizeof(std::max_align_t));
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t column = unit % tiles * tile, p = unit / tiles % parts, kept = unit / tiles / parts;
      int64_t width = std::min(tile, plan.width - column), first = p * part;
      void* acc = local.data();
      if (parts > 1) {
        acc = partial.data<char>() +
              ((kept * parts + p) * plan.width + column) * static_cast<int64_t>(loops.size);
      }
      loops.init(acc, width);
      TakeIn(plan, loops, in, kept, first, std::min(first + part, plan.count()), column, width,
             acc);
      if (parts == 1) loops.finish(acc, width, plan.count(), At(*out, kept * plan.width + column));
    }
  });
  for (int64_t kept = 0; parts > 1 && kept < plan.outer_kept; ++kept) {
    size_t row = plan.width * loops.size;
    char* acc = partial.data<char>() + kept * parts * row;
    for (int64_t p = 1; p < parts; ++p) loops.merge(acc + p * row, acc, plan.width);
    loops.finish(acc, plan.width, plan.count(), At(*out, kept * plan.width));
  }
  return Error::success();
}

}  // namespace grapnel
