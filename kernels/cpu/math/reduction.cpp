#include "kernels/cpu/math/reduction.h"

#include <algorithm>

#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

struct Axis {
  int64_t size, stride;
};

// How an input is traversed. Its dimensions are [..., extent, wide]: those before `extent` are
// traversed index by index, a loop covers `extent`, which is reduced, and each call in the loop
// covers `wide`. Kept and reduced dimensions alternate, so `wide` is one of:
//
//   [width]             kept: adjacent results, each of which reduces its column;
//   [extent]            reduced, and long: a row for one result (is_row);
//   [tail, fold, group] kept, reduced, kept, where fold * group is short: reduced as columns, of
//                       which `fold` that are `group` apart are then folded into one result.
//
// Where `wide` is narrow, `lump` rows are treated as one row and folded first. For example, a group
// norm's [h, w, groups, 4] then does not need a loop for every 4 elements.
struct Plan {
  llvm::SmallVector<Axis, 4> kept, reduced;
  bool is_row = false;
  int64_t width = 1;  // adjacent results
  int64_t group = 1, fold = 1, lump = 1;
  int64_t extent = 1, extent_stride = 0;  // of the reduced dimension that a loop covers
  int64_t outer_kept = 1, outer_reduced = 1;

  int64_t rows() const { return outer_reduced * extent; }
  int64_t count() const { return rows() * fold; }  // elements per result
  // The number of accumulators that `results` need.
  int64_t columns(int64_t results) const { return results * fold * lump; }
};

int64_t OffsetOf(llvm::ArrayRef<Axis> axes, int64_t index) {
  int64_t offset = 0;
  for (size_t d = axes.size(); d-- > 0; index /= axes[d].size)
    offset += index % axes[d].size * axes[d].stride;
  return offset;
}

// The largest fold * group: kFolded if there are several rows to combine first, else kFoldedAtOnce.
// It is kFoldedSingly if, besides, group is 1: more elements are then faster as a row, because they
// fill the lanes.
constexpr int64_t kFolded = 1024, kFoldedAtOnce = 128, kFoldedSingly = 31;
// Rows of at most half this many columns are lumped together, up to this many columns per call.
constexpr int64_t kLump = 128;

// Plans a reduction with a non-empty result.
Plan MakePlan(const ReducedDims& dims) {
  Plan plan;
  llvm::SmallVector<ReducedDims::Merged, 8> merged = dims.merged;
  auto pop_if = [&](bool reduced, int64_t* size, int64_t* stride) {
    if (merged.empty() || merged.back().reduced != reduced) return false;
    *size = merged.back().size;
    *stride = merged.back().stride;
    merged.pop_back();
    return true;
  };
  int64_t inner = 1, middle = 1, tail = 1, stride = 0, middle_stride = 0;
  bool has_inner = pop_if(false, &inner, &stride);
  pop_if(true, &middle, &middle_stride);
  // Now the innermost dimension is kept, and the next one, if any, is reduced.
  bool has_rows = merged.size() > 1;
  int64_t most = has_rows ? kFolded : inner > 1 ? kFoldedAtOnce : kFoldedSingly;
  if (!merged.empty() && middle > 0 && middle * inner <= most) {
    pop_if(false, &tail, &stride);
    plan.group = inner;
    plan.fold = middle;
    plan.width = tail * inner;
    pop_if(true, &plan.extent, &plan.extent_stride);
  } else {
    plan.is_row = !has_inner;
    plan.width = plan.group = inner;
    plan.extent = middle;
    plan.extent_stride = middle_stride;
  }
  int64_t row = plan.width * plan.fold;
  if (!plan.is_row && row <= kLump / 2 && plan.extent > 1)
    plan.lump = std::min(kLump / row, plan.extent);
  for (const ReducedDims::Merged& axis : merged) {
    (axis.reduced ? plan.reduced : plan.kept).push_back({axis.size, axis.stride});
    (axis.reduced ? plan.outer_reduced : plan.outer_kept) *= axis.size;
  }
  return plan;
}

// Returns the number of results that are computed together.
int64_t TileOf(const Plan& plan) {
  constexpr int64_t kTile = 2048;
  int64_t one = plan.fold * plan.group;  // columns
  return std::min(plan.width, std::max<int64_t>(1, kTile / one) * plan.group);
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

// Reduces `rows` adjacent rows into `acc`, the accumulators (columns) of `width` results.
void TakeRows(const Plan& plan, const ReduceLoops& loops, const void* from, int64_t rows,
              int64_t width, size_t element, void* acc) {
  if (plan.is_row) return loops.row(from, rows, acc);
  int64_t lumps = rows / plan.lump, rest = rows % plan.lump, step = plan.lump * plan.extent_stride;
  loops.columns(from, lumps, step, plan.columns(width), acc);
  if (rest == 0) return;
  const char* last = static_cast<const char*>(from) + lumps * step * element;
  loops.columns(last, 1, 0, width * plan.fold * rest, acc);
}

// Folds the columns into `width` results in `acc`.
void Fold(const Plan& plan, const ReduceLoops& loops, void* columns, int64_t width, void* acc) {
  int64_t row = width * plan.fold;
  void* folded = plan.fold > 1 ? columns : acc;
  if (plan.lump > 1) loops.fold(columns, 1, plan.lump, row, folded);
  if (plan.fold > 1) loops.fold(columns, width / plan.group, plan.fold, plan.group, acc);
}

// Reduces the rows [begin, end) into the accumulators `acc` of `width` results from `first` on,
// which are in row `kept` of the results.
void TakeIn(const Plan& plan, const ReduceLoops& loops, const Tensor& in, int64_t kept,
            int64_t begin, int64_t end, int64_t first, int64_t width, void* acc) {
  int64_t base = OffsetOf(plan.kept, kept) + first * plan.fold;
  size_t element = DataTypeSize(in.dtype());
  while (begin < end) {
    int64_t row = begin % plan.extent, n = std::min(plan.extent - row, end - begin);
    const void* from =
        At(in, base + OffsetOf(plan.reduced, begin / plan.extent) + row * plan.extent_stride);
    TakeRows(plan, loops, from, n, width, element, acc);
    begin += n;
  }
}

// Memory for `n` accumulators on this thread.
class Accumulators {
 public:
  Accumulators(const ReduceLoops& loops, int64_t n)
      : memory_((n * loops.size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)) {}
  void* get() { return memory_.data(); }

 private:
  std::vector<std::max_align_t> memory_;
};

}  // namespace

Error Reduce(KernelContext& ctx, const ReduceLoops& loops, bool keep_dims) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(ReducedDims reduced, ReadReducedDims(in, ctx.input(1), keep_dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, reduced.result));
  if (out->num_elements() == 0) return Error::success();
  Plan plan = MakePlan(reduced);

  // Splits the work into units: a row of results, some of its columns, or a part of the elements of
  // a result. The split depends only on the shape, so that any number of threads combines the
  // elements in the same order.
  constexpr int64_t kLargePart = 32768;
  int64_t tile = TileOf(plan), tiles = (plan.width + tile - 1) / tile;
  int64_t row = tile * plan.fold;  // elements
  int64_t part = std::max<int64_t>(plan.rows(), 1), parts = 1;
  if (plan.outer_kept * tiles < 16 && plan.rows() * row > 2 * kLargePart) {
    part = std::max<int64_t>(kLargePart / row, 1);
    parts = (plan.rows() + part - 1) / part;
  }
  Tensor partial;
  if (parts > 1) {
    int64_t bytes = plan.outer_kept * plan.width * parts * static_cast<int64_t>(loops.size);
    ASSIGN_OR_RETURN(partial, ctx.Scratch(proto::DT_UINT8, {bytes}));
  }
  double unit_cost =
      20 + 0.2 * static_cast<double>(std::min(part, plan.rows())) * static_cast<double>(row);
  ctx.ParallelFor(plan.outer_kept * tiles * parts, unit_cost, [&](int64_t begin, int64_t end) {
    Accumulators local(loops, tile), columns(loops, plan.columns(tile));
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t first = unit % tiles * tile, p = unit / tiles % parts, kept = unit / tiles / parts;
      int64_t width = std::min(tile, plan.width - first), from = p * part;
      void* acc = local.get();
      if (parts > 1) {
        acc = partial.data<char>() +
              ((kept * parts + p) * plan.width + first) * static_cast<int64_t>(loops.size);
      }
      bool folds = plan.columns(1) > 1;
      void* wide = folds ? columns.get() : acc;
      loops.init(wide, plan.columns(width));
      TakeIn(plan, loops, in, kept, from, std::min(from + part, plan.rows()), first, width, wide);
      if (folds) Fold(plan, loops, wide, width, acc);
      if (parts == 1) loops.finish(acc, width, plan.count(), At(*out, kept * plan.width + first));
    }
  });
  for (int64_t kept = 0; parts > 1 && kept < plan.outer_kept; ++kept) {
    size_t size = plan.width * loops.size;
    char* acc = partial.data<char>() + kept * parts * size;
    for (int64_t p = 1; p < parts; ++p) loops.merge(acc + p * size, acc, plan.width);
    loops.finish(acc, plan.width, plan.count(), At(*out, kept * plan.width));
  }
  return Error::success();
}

}  // namespace grapnel
